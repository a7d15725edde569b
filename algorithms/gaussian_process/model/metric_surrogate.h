#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/model/growing_factor.h"
#include "algorithms/gaussian_process/model/mean_function.h"
#include "algorithms/gaussian_process/model/model_size.h"
#include "algorithms/gaussian_process/model/posterior.h"
#include "algorithms/gaussian_process/model/targets.h"
#include "algorithms/gaussian_process/space/features.h"

namespace vernier::gp {

// Factor of a model, cached from one call to the next. Saves work and never changes a suggestion (docs/adr/0013).
struct FitCache {
  Hyperparameters hyperparameters;
  Eigen::MatrixXd rows;  // Features of the factor's points.
  GrowingFactor factor;
};

// Additional standard start of the fit under each warp, in the order of kWarps (FitStarts). Unset: none.
using StandardStartByWarp = std::array<std::optional<std::int64_t>, kWarps.size()>;

// Surrogate of one metric: a Gaussian process of its warped values, conditioned on the trials so far.
class MetricSurrogate {
 public:
  // Decides whether hyperparameters are fitted, from where, and to which rows.
  struct FitPlan {
    bool refit = true;  // Fit hyperparameters anew rather than use those of the state.
    StandardStartByWarp standard_starts;
    bool grows = true;  // The rows continue those of the previous call, so a factor may be cached.
    ModelSize size;     // Bounds rows and evaluations of a fit.
  };

  // Returns the surrogate under the warp that orders the trials best. If the plan has a refit, or `state` no
  // hyperparameters, fits a model under each warp, starting from `state`, and stores hyperparameters and warp there.
  // `rows`: n x p, n >= 1, finite. `values`: n, larger is better. `deviations`: standard deviations of values that are
  // expected rather than measured; n, 0 where measured, or empty. `priors`: terms of the prior mean function (FitMean).
  // `cache`: of an earlier call, or null.
  // Internal: the model cannot be computed.  Cancelled: `stop` fired.
  static absl::StatusOr<MetricSurrogate> Fit(const FeatureMap& features,
                                             const Eigen::MatrixXd& rows,
                                             std::span<const double> values,
                                             std::span<const double> deviations,
                                             const std::vector<PriorMean>& priors,
                                             FitPlan plan,
                                             MetricState& state,
                                             const FitCache* cache,
                                             const std::stop_token& stop);

  const TargetScale& scale() const { return scale_; }
  const Posterior& posterior() const { return posterior_; }
  // Estimates of the metric at the rows, in their order and on the warped scale: posterior means, or the values
  // themselves if the metric is noiseless. At an expected value, no better than the best estimate of a measured one.
  const Eigen::VectorXd& estimates() const { return estimates_; }
  // Weighted accuracy with which leave-one-out predictions order the rows (OrderingSkill). Set by a refit only.
  const std::optional<double>& skill() const { return skill_; }
  // Conditions on a pending point (Posterior::AddPending).
  void AddPending(const Eigen::RowVectorXd& features) { posterior_.AddPending(features); }
  // Cache for the next call; null if it would not help.
  const std::shared_ptr<const FitCache>& cache() const { return cache_; }

 private:
  MetricSurrogate(TargetScale scale, Posterior posterior)
      : scale_(std::move(scale)), posterior_(std::move(posterior)) {}

  TargetScale scale_;
  Posterior posterior_;
  Eigen::VectorXd estimates_;
  std::optional<double> skill_;
  std::shared_ptr<const FitCache> cache_;
};

// Fits a model of labels, which are neither warped nor standardised: its mean is 0 far from all rows. Uses and updates
// the hyperparameters in `state`. Arguments and errors as those of MetricSurrogate::Fit; `labels`: n.
absl::StatusOr<Posterior> FitLabels(const FeatureMap& features,
                                    const Eigen::MatrixXd& rows,
                                    const Eigen::VectorXd& labels,
                                    const MetricSurrogate::FitPlan& plan,
                                    std::optional<Hyperparameters>& state,
                                    const std::stop_token& stop);

}  // namespace vernier::gp
