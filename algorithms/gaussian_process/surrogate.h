#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithms/gaussian_process/coordinates.h"
#include "algorithms/gaussian_process/features.h"
#include "algorithms/gaussian_process/gp_state.h"
#include "algorithms/gaussian_process/growing_factor.h"
#include "algorithms/gaussian_process/history.h"
#include "algorithms/gaussian_process/posterior.h"
#include "algorithms/gaussian_process/targets.h"

namespace vernier::gp {

// What an optimiser may remember from one call to the next to spare itself work. Changes nothing of what it proposes.
struct Remembered {
  Hyperparameters hyperparameters;
  Eigen::MatrixXd rows;  // The features of the factor's points.
  GrowingFactor factor;
};

// What is believed of the objective, and of where trials fail, after the trials so far.
class Surrogate {
 public:
  // Fits to the history, starting from the hyperparameters in `state`, and leaves the new ones there. Pending points are
  // believed to come out at their means. `known`: of an earlier call, or null.
  // REQUIRES: history.points is not empty.  Internal: the model cannot be computed.
  static absl::StatusOr<Surrogate> Fit(const FeatureMap& features,
                                       const History& history,
                                       std::size_t max_points,
                                       GpState& state,
                                       const Remembered* known,
                                       const std::stop_token& stop);

  // One more point is out: believe it, too.
  void Believe(const Eigen::RowVectorXd& features);

  const Posterior& objective() const { return objective_; }
  const Posterior* success() const { return success_ ? &*success_ : nullptr; }
  // What there is to improve on, as the model sees values: the best mean at a point tried or pending, or, where there is
  // next to no noise, the best value.
  double incumbent() const { return incumbent_; }
  const TargetScale& scale() const { return scale_; }
  // The best points tried, best first; a few.
  const std::vector<Coordinates>& centres() const { return centres_; }
  // One sentence if the model had to leave something out, else empty.
  const std::string& note() const { return note_; }
  // For the next call; null if it would not help.
  const std::shared_ptr<const Remembered>& remembered() const { return remembered_; }

 private:
  Surrogate(TargetScale scale, Posterior objective)
      : scale_(std::move(scale)), objective_(std::move(objective)) {}

  TargetScale scale_;
  Posterior objective_;
  std::optional<Posterior> success_;
  double incumbent_ = 0;
  std::vector<Coordinates> centres_;
  std::string note_;
  std::shared_ptr<const Remembered> remembered_;
};

// Whether hyperparameters that were fitted to `fitted_at` targets are due to be fitted again when there are `now`: always
// while there are few, later each time they have grown by a twentieth.
bool IsRefitDue(std::int64_t fitted_at, std::int64_t now);

}  // namespace vernier::gp
