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

// What an optimiser may remember of a model from one call to the next to spare itself work. Changes nothing of what it
// proposes.
struct Remembered {
  Hyperparameters hyperparameters;
  Eigen::MatrixXd rows;  // The features of the factor's points.
  GrowingFactor factor;
};

// The standard start from which the model under each warp is fitted, too, by kWarps (FitStarts).
using StandardStartByWarp = std::array<std::optional<std::int64_t>, kWarps.size()>;

// What is believed of one metric, after the trials so far: a Gaussian process of its warped values.
class MetricModel {
 public:
  // When hyperparameters are fitted anew, from where, and what may be remembered.
  struct Occasion {
    bool refit = true;
    StandardStartByWarp besides;
    bool grows = true;  // The rows are those of the call before, and more.
    // Hyperparameters are fitted to so many rows, at most.
    std::size_t fitted = ModelSize().fitted;
  };

  // Fits a model under each warp and chooses one when a refit is due or `state` has none, starting from what `state` holds
  // and leaving the new hyperparameters there.  `rows`: n x p, n >= 1, finite; `values`: n, larger is better. `beliefs`: what
  // its mean function is made of (Match). `known`: of an earlier call, or null.  Internal: the model cannot be computed.
  static absl::StatusOr<MetricModel> Fit(const FeatureMap& features,
                                         const Eigen::MatrixXd& rows,
                                         std::span<const double> values,
                                         const std::vector<Belief>& beliefs,
                                         Occasion occasion,
                                         MetricState& state,
                                         const Remembered* known,
                                         const std::stop_token& stop);

  const TargetScale& scale() const { return scale_; }
  const Posterior& posterior() const { return posterior_; }
  // At the rows, in their order: means, or, where there is next to no noise, the values themselves, as the model sees them.
  const Eigen::VectorXd& believed() const { return believed_; }
  // How rightly leave-one-out predictions order the rows (OrderingSkill); nothing unless hyperparameters were fitted anew.
  const std::optional<double>& skill() const { return skill_; }
  // One more point is out (Posterior::Believe).
  void Believe(const Eigen::RowVectorXd& features) { posterior_.Believe(features); }
  // For the next call; null if it would not help.
  const std::shared_ptr<const Remembered>& remembered() const { return remembered_; }

 private:
  MetricModel(TargetScale scale, Posterior posterior)
      : scale_(std::move(scale)), posterior_(std::move(posterior)) {}

  TargetScale scale_;
  Posterior posterior_;
  Eigen::VectorXd believed_;
  std::optional<double> skill_;
  std::shared_ptr<const Remembered> remembered_;
};

// A model of labels, which are neither warped nor standardised: 0 far from all rows. Arguments as those of
// MetricModel::Fit.
absl::StatusOr<Posterior> FitLabels(const FeatureMap& features,
                                    const Eigen::MatrixXd& rows,
                                    const Eigen::VectorXd& labels,
                                    const MetricModel::Occasion& occasion,
                                    std::optional<Hyperparameters>& state,
                                    const std::stop_token& stop);

}  // namespace vernier::gp
