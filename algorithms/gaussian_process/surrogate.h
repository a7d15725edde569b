#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithms/gaussian_process/acquisition/acquisition.h"
#include "algorithms/gaussian_process/acquisition/box_decomposition.h"
#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/model/mean_function.h"
#include "algorithms/gaussian_process/model/metric_model.h"
#include "algorithms/gaussian_process/model/posterior.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/training_set.h"

namespace vernier::gp {

// By metric, objectives before outcome constraints; null where there is nothing.
using Memory = std::vector<std::shared_ptr<const Remembered>>;

// What is believed of the objectives, of the outcome constraints and of where trials fail, after the trials so far.
//
// The failure model is a Gaussian process on labels, 0 of trials that worked and of what nobody has tried, -2 of those that
// failed. At a border behind which trials fail the label falls, and what is believed to lie behind is left alone, however
// much it promises. Where failures come by chance the label is about the same everywhere: what is believed to work as often as
// most trials that did is as good as any.
class Surrogate {
 public:
  // Fits to the set, starting from the hyperparameters in `state`, and leaves the new ones there. Pending points are
  // believed to come out at their means. `beliefs`: by metric, or empty. `known`: of an earlier call, or empty.
  // REQUIRES: set.points is not empty.  Internal: a model cannot be computed.
  static absl::StatusOr<Surrogate> Fit(const FeatureMap& features,
                                       const Beliefs& beliefs,
                                       TrainingSet set,
                                       const std::vector<Coordinates>& pending,
                                       ModelState& state,
                                       const Memory& known,
                                       const std::stop_token& stop);

  // One more point is out: believe it, too.
  void Believe(const Eigen::RowVectorXd& features);

  // What is worth evaluating. Refers to the surrogate.
  Acquisition MakeAcquisition() const;
  // The same for one objective, if of the points tried only some counted: improvement is on the best of those, or on the
  // worst of all if none does.  REQUIRES: objectives().size() == 1.
  Acquisition MakeAcquisitionOver(const std::function<bool(const Coordinates&)>& counts) const;
  // What there is to improve on, as the models see values. Of one objective, everything better than the best mean at a
  // point tried or pending that keeps the outcome constraints, or, where there is next to no noise, the best value. Of
  // several, what the best such points do not dominate, above a reference point: at every other trial the worst of all,
  // to find the front's ends, else one a little worse than the worst of them, to fill the front (docs/adr/0014).
  // While no point keeps the constraints, everything better than the worst. A constraint that was never seen is left out
  // of account.
  BoxDecomposition Improvement() const;

  // What a point is expected to improve on that, the constraints kept: of a single objective, in the user's units, from the
  // model's view of the values through the inverse of its warp. Nothing for several, or while no point keeps the constraints.
  std::optional<double> ExpectedImprovement(const Eigen::RowVectorXd& features) const;

  const std::vector<MetricModel>& objectives() const { return objectives_; }
  // That the trial does not fail; nothing while too few did.
  std::optional<Requirement> Success() const;
  // Of the slacks; nothing for a constraint that was never seen.
  const std::vector<std::optional<MetricModel>>& constraints() const { return constraints_; }
  // For each outcome constraint the model of its slack and what that must be at least; nothing while it was never seen.
  std::vector<std::optional<Requirement>> Requirements() const;
  // The best points tried, best first; a few.
  const std::vector<Coordinates>& centres() const { return centres_; }
  // One sentence if the model had to leave something out, else empty.
  const std::string& note() const { return note_; }
  // For the next call.
  Memory remembered() const;

 private:
  Surrogate() = default;
  Acquisition MakeAcquisition(BoxDecomposition improvement) const;
  // By how much each of `count` points tried is believed to break the constraints, all together, as the models see them;
  // 0: it keeps them. `seen`: of each constraint's model, which point each of its rows is.
  Eigen::VectorXd Shortfall(std::size_t count,
                            const std::vector<std::vector<std::size_t>>& seen) const;
  // Keeps the points; sets feasible_, worst_ and centres_.
  void LookAtPoints(std::vector<Coordinates> points, const Eigen::VectorXd& shortfall);

  std::vector<MetricModel> objectives_;
  std::vector<std::optional<MetricModel>> constraints_;
  std::optional<Posterior> success_;
  double worked_ = 0;  // The label from which on a trial is taken to work.
  bool is_border_firm_ = false;
  std::vector<ObjectiveVector> feasible_;  // What is believed at points that keep the constraints.
  // Which of tried_ the first of them are; the others are pending.
  std::vector<std::size_t> feasible_tried_;
  std::vector<Coordinates> tried_;
  ObjectiveVector worst_;  // By objective, of all points tried.
  std::vector<Coordinates> centres_;
  std::string note_;
};

// Whether hyperparameters that were fitted to `fitted_at` targets are due to be fitted again when there are `now`: always
// while there are few, later each time they have grown by a twentieth.
bool IsRefitDue(std::int64_t fitted_at, std::int64_t now);
// The same of trials near the best one: after every 20th.
bool IsNearbyRefitDue(std::int64_t fitted_at, std::int64_t now);
// Besides the last optimum, which of the standard starts the `fits`-th fit searches from, lest it follow one mode of the
// posterior for ever: under each warp every fourth takes one of them, in turn, once there are 15 trials; the warps alternate.
StandardStartByWarp StandardStartsDue(std::int64_t fits, std::int64_t trials);

}  // namespace vernier::gp
