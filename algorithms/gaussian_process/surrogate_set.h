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
#include "algorithms/gaussian_process/space/encoded_trials.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/surrogate.h"

namespace vernier::gp {

// Surrogate with the trust region in which the next trial is searched for.
struct RegionalSurrogate {
  Surrogate surrogate;
  std::optional<Region> region;  // Unset: the whole space.
};

// Surrogates of one call: one of the whole space and, with more trials than one model takes, one of the trials near the
// best (docs/adr/0019). Each is fitted on first use.
class SurrogateSet {
 public:
  // All arguments but `size` must outlive the object. `caches`: of an earlier call, or empty. `state`: read and
  // updated.
  SurrogateSet(const FeatureMap& features,
               const PriorMeans& priors,
               const EncodedTrials& encoded,
               const FitCaches& caches,
               const ModelSize& size,
               GpState& state)
      : features_(features),
        priors_(priors),
        encoded_(encoded),
        caches_(caches),
        size_(size),
        state_(state) {}

  // Surrogate for the `turn`-th suggestion. With one objective and more than `size.points` trials, every other
  // suggestion searches near the best trial, by the posterior mean of the last model, which is in the state. The result
  // is valid until the object is destroyed.
  // REQUIRES: encoded.points is not empty.  Internal: a model cannot be computed.  Cancelled: `stop` fired.
  absl::StatusOr<const RegionalSurrogate*> At(std::uint64_t turn,
                                              const std::vector<Coordinates>& pending,
                                              const std::stop_token& stop);

  // Conditions the surrogates fitted so far on one more pending point (Surrogate::AddPending).
  void AddPending(const Eigen::RowVectorXd& features);
  // Caches for the next call; nullopt if the surrogate of the whole space was not fitted.
  std::optional<FitCaches> caches() const;

 private:
  absl::StatusOr<RegionalSurrogate> Whole(const std::vector<Coordinates>& pending,
                                          const std::stop_token& stop);
  absl::StatusOr<RegionalSurrogate> Nearby(const Coordinates& best,
                                           const std::vector<Coordinates>& pending,
                                           const std::stop_token& stop);
  std::vector<double> LogLengthScales() const;

  const FeatureMap& features_;
  const PriorMeans& priors_;
  const EncodedTrials& encoded_;
  const FitCaches& caches_;
  const ModelSize size_;
  GpState& state_;
  std::optional<RegionalSurrogate> whole_;
  std::optional<RegionalSurrogate> nearby_;
};

}  // namespace vernier::gp
