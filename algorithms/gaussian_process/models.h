#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/model/model_size.h"
#include "algorithms/gaussian_process/search/trust_region.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/space/history.h"
#include "algorithms/gaussian_process/surrogate.h"

namespace vernier::gp {

// What is believed, and where it is searched for the next trial.
struct Model {
  Surrogate surrogate;
  std::optional<Region> region;  // Nothing: everywhere.
};

// The models of one call: of the whole space and, where there are more trials than one model takes, of the trials near the
// best. Each is fitted when it is first asked for.
class Models {
 public:
  // All are referred to. `known`: of an earlier call, or empty.
  Models(const FeatureMap& features,
         const Beliefs& beliefs,
         const History& history,
         const Memory& known,
         const ModelSize& size,
         GpState& state)
      : features_(features),
        beliefs_(beliefs),
        history_(history),
        known_(known),
        size_(size),
        state_(state) {}

  // The `turn`-th suggestion's: of one objective and more than `size.points` trials, every other looks near the trial that
  // the model before believed to be the best, which is kept in the state.
  // REQUIRES: history.points is not empty.  Internal: a model cannot be computed.
  absl::StatusOr<const Model*> At(std::uint64_t turn,
                                  const std::vector<Coordinates>& pending,
                                  const std::stop_token& stop);

  // One more point is out: believe it, too.
  void Believe(const Eigen::RowVectorXd& features);
  // What the next call may know; nothing if the whole was not looked at.
  std::optional<Memory> remembered() const;

 private:
  absl::StatusOr<Model> Whole(const std::vector<Coordinates>& pending, const std::stop_token& stop);
  absl::StatusOr<Model> Nearby(const Coordinates& best,
                               const std::vector<Coordinates>& pending,
                               const std::stop_token& stop);
  std::vector<double> LogLengthScales() const;

  const FeatureMap& features_;
  const Beliefs& beliefs_;
  const History& history_;
  const Memory& known_;
  const ModelSize size_;
  GpState& state_;
  std::optional<Model> whole_;
  std::optional<Model> nearby_;
};

}  // namespace vernier::gp
