#include "algorithms/gaussian_process/model/metric_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "algorithms/gaussian_process/model/fit.h"
#include "algorithms/gaussian_process/model/likelihood.h"
#include "algorithms/gaussian_process/model/model_choice.h"
#include "src/core/status.h"

namespace vernier::gp {
namespace {

// Of the signal variance: with less noise than this, an observed value is taken at its word.
constexpr double kNoiselessShare = 1e-3;
// Of a coordinate's range.
constexpr double kShortestOfLabels = 0.3;
// Below so many points a factor is computed sooner than remembered.
constexpr Eigen::Index kLeastRemembered = 150;

// Raises the noise until the covariance matrix can be factorised.
absl::StatusOr<Posterior> Condition(const Eigen::MatrixXd& rows,
                                    const Eigen::VectorXd& targets,
                                    Hyperparameters hyperparameters,
                                    const std::vector<int>& group_of_column,
                                    const MeanFunction& mean = {}) {
  for (const double least_noise : {0.0, 1e-4, 1e-2, 1.0}) {
    if (least_noise > 0) {
      hyperparameters.log_noise = std::max(hyperparameters.log_noise, std::log(least_noise));
    }
    std::optional<Posterior> posterior =
        Posterior::Create(rows, targets, hyperparameters, group_of_column, mean);
    if (posterior) return *std::move(posterior);
  }
  return Internal("the covariance of {} trials is not positive definite", targets.size());
}

// What was fitted is not worth conditioning once nobody waits for it.
absl::Status CheckGoesOn(const std::stop_token& stop) {
  return stop.stop_requested() ? Cancelled("the suggestion was cancelled") : absl::OkStatus();
}

bool IsPrefix(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& of) {
  return rows.rows() <= of.rows() && rows.cols() == of.cols() && rows == of.topRows(rows.rows());
}

// Condition, the factor of the rows behind `anchor` being appended, to what is known if that is the same so far.
absl::StatusOr<Posterior> Grow(const Eigen::MatrixXd& rows,
                               const Eigen::VectorXd& targets,
                               const Hyperparameters& hyperparameters,
                               const std::vector<int>& group_of_column,
                               const MeanFunction& mean,
                               Eigen::Index anchor,
                               const Remembered* known) {
  const bool is_known = known != nullptr && known->factor.anchor() == anchor &&
                        known->hyperparameters.Pack() == hyperparameters.Pack() &&
                        IsPrefix(known->rows, rows);
  if (is_known) {
    return Posterior::Extend(known->factor, rows, targets, hyperparameters, group_of_column, mean);
  }
  VERNIER_ASSIGN_OR_RETURN(
      const Posterior first,
      Condition(rows.topRows(anchor), targets.head(anchor), hyperparameters, group_of_column));
  return Posterior::Extend(
      first.factor(), rows, targets, first.hyperparameters(), group_of_column, mean);
}

// What hyperparameters are fitted to: at most `most` rows, evenly spread.
struct FittingSet {
  FittingSet(const Eigen::MatrixXd& all_rows,
             std::span<const double> all_values,
             std::size_t most) {
    const std::size_t all = all_values.size();
    const std::size_t kept = std::min(all, most);
    rows.resize(static_cast<Eigen::Index>(kept), all_rows.cols());
    values.resize(kept);
    for (std::size_t i = 0; i < kept; ++i) {
      const std::size_t from = i * all / kept;
      rows.row(static_cast<Eigen::Index>(i)) = all_rows.row(static_cast<Eigen::Index>(from));
      values[i] = all_values[from];
    }
  }
  Eigen::MatrixXd rows;
  std::vector<double> values;
};

Hyperparameters FitTo(const FeatureMap& features,
                      const Eigen::MatrixXd& rows,
                      const Eigen::VectorXd& targets,
                      const FitStarts& starts,
                      const std::stop_token& stop) {
  return FitHyperparameters(
      rows, features.group_of_column(), features.groups(), targets, Prior(), starts, stop);
}

// Whether the fit is spared the model under a warp: where the last one still tells of the same trials, and the model under
// another warp is searched for from more than its last optimum.
bool Rests(std::size_t warp, const MetricModel::Occasion& occasion, const MetricState& state) {
  const bool is_any_due = std::any_of(occasion.besides.begin(),
                                      occasion.besides.end(),
                                      [](const auto& start) { return start.has_value(); });
  return occasion.grows && is_any_due && !occasion.besides[warp] && state.by_warp[warp];
}

// Fits a model of the targets under each warp, and chooses the one whose leave-one-out predictions order the trials best.
// Returns how well they do.
absl::StatusOr<double> FitWarps(const FeatureMap& features,
                                const FittingSet& set,
                                const std::vector<Belief>& beliefs,
                                const MetricModel::Occasion& occasion,
                                MetricState& state,
                                const std::stop_token& stop) {
  const Eigen::Map<const Eigen::VectorXd> values(set.values.data(), set.rows.rows());
  double most = -1.0;
  for (std::size_t i = 0; i < kWarps.size(); ++i) {
    const Eigen::VectorXd targets = TargetScale(set.values, kWarps[i]).Targets(set.values);
    const MeanFunction mean = Match(beliefs, set.rows, targets);
    Eigen::VectorXd residuals = targets;
    if (!mean.is_zero()) residuals -= mean.At(set.rows);
    if (!Rests(i, occasion, state)) {
      state.by_warp[i] =
          FitTo(features, set.rows, residuals, {state.by_warp[i], occasion.besides[i]}, stop);
    }
    VERNIER_RETURN_IF_ERROR(CheckGoesOn(stop));
    VERNIER_ASSIGN_OR_RETURN(
        const Posterior posterior,
        Condition(set.rows, targets, *state.by_warp[i], features.group_of_column(), mean));
    const double skill = OrderingSkill(posterior.LeaveOneOutMeans(targets), values);
    if (skill > most) {
      most = skill;
      state.warp = kWarps[i];
    }
  }
  return most;
}

}  // namespace

absl::StatusOr<MetricModel> MetricModel::Fit(const FeatureMap& features,
                                             const Eigen::MatrixXd& rows,
                                             std::span<const double> values,
                                             const std::vector<Belief>& beliefs,
                                             Occasion occasion,
                                             MetricState& state,
                                             const Remembered* known,
                                             const std::stop_token& stop) {
  const bool refit = occasion.refit || !state.by_warp[0];
  if (refit || !occasion.grows) state.anchor = rows.rows();
  std::optional<double> skill;
  if (refit) {
    VERNIER_ASSIGN_OR_RETURN(
        skill,
        FitWarps(
            features, FittingSet(rows, values, occasion.fitted), beliefs, occasion, state, stop));
  }
  VERNIER_RETURN_IF_ERROR(CheckGoesOn(stop));
  TargetScale scale(values, state.warp);
  const Eigen::VectorXd targets = scale.Targets(values);
  const Hyperparameters& hyperparameters = *state.by_warp[static_cast<std::size_t>(state.warp)];
  const Eigen::Index anchor = std::clamp<Eigen::Index>(state.anchor, 1, rows.rows());
  VERNIER_ASSIGN_OR_RETURN(Posterior posterior,
                           Grow(rows,
                                targets,
                                hyperparameters,
                                features.group_of_column(),
                                Match(beliefs, rows, targets),
                                anchor,
                                known));

  MetricModel model(std::move(scale), std::move(posterior));
  model.skill_ = skill;
  const bool is_noisy = model.posterior_.noise() > kNoiselessShare * model.posterior_.signal();
  model.believed_ = is_noisy ? model.posterior_.fitted() : targets;
  if (rows.rows() >= kLeastRemembered && occasion.grows &&
      model.posterior_.hyperparameters().Pack() == hyperparameters.Pack()) {
    model.remembered_ = std::make_shared<const Remembered>(Remembered{
        .hyperparameters = hyperparameters, .rows = rows, .factor = model.posterior_.factor()});
  }
  return model;
}

absl::StatusOr<Posterior> FitLabels(const FeatureMap& features,
                                    const Eigen::MatrixXd& rows,
                                    const Eigen::VectorXd& labels,
                                    const MetricModel::Occasion& occasion,
                                    std::optional<Hyperparameters>& state,
                                    const std::stop_token& stop) {
  if (occasion.refit || !state) {
    const FittingSet set(
        rows, {labels.data(), static_cast<std::size_t>(labels.size())}, occasion.fitted);
    const Eigen::Map<const Eigen::VectorXd> targets(set.values.data(), set.rows.rows());
    state = FitTo(features, set.rows, targets, {.warm = state}, stop);
    // A border looks like short lengths, with which a model knows nothing a little away from a failure.
    for (double& log_length : state->log_length_scales) {
      log_length = std::max(log_length, std::log(kShortestOfLabels));
    }
  }
  VERNIER_RETURN_IF_ERROR(CheckGoesOn(stop));
  return Condition(rows, labels, *state, features.group_of_column());
}

}  // namespace vernier::gp
