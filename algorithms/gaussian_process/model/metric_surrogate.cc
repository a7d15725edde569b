#include "algorithms/gaussian_process/model/metric_surrogate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "algorithms/gaussian_process/model/fit.h"
#include "algorithms/gaussian_process/model/likelihood.h"
#include "algorithms/gaussian_process/model/model_choice.h"
#include "src/core/status.h"

// A fit has two parts. Hyperparameters and the warp are decided by a subsample of the trials, only when a refit is due;
// the state then holds them. Conditioning takes all rows at each call, and extends a cached factor where that gives the
// same bits (docs/adr/0013). Everything follows from the rows, the values and the state, so that a call replays.
namespace vernier::gp {
namespace {

// Noise variance, as a share of the signal variance, below which a metric is noiseless: its values, not the posterior
// means, are the estimates. A choice: with so little noise the two differ by less than a search can use.
constexpr double kNoiselessShare = 1e-3;
// Shortest length scale of the failure model, in ranges of a coordinate (docs/adr/0027).
constexpr double kShortestOfLabels = 0.3;
// Fewest points for which a factor is cached. A choice: a smaller factor is computed sooner than copied and compared.
constexpr Eigen::Index kLeastCached = 150;
// Largest deviation of a target, in deviations of all targets. A choice: a target less certain than that says nothing.
constexpr double kLargestDeviation = 10.0;

// Posterior of the rows, with the noise raised until the covariance matrix can be factorised. The steps are a choice:
// the first is what the hyperparameters say, and a noise of 1, the variance of the targets, factorises any finite rows.
absl::StatusOr<Posterior> PosteriorGiven(const Eigen::MatrixXd& rows,
                                         const Eigen::VectorXd& targets,
                                         Hyperparameters hyperparameters,
                                         const std::vector<int>& group_of_column,
                                         const MeanFunction& mean = {},
                                         const Eigen::VectorXd& own_variances = {}) {
  for (const double least_noise : {0.0, 1e-4, 1e-2, 1.0}) {
    if (least_noise > 0) {
      hyperparameters.log_noise = std::max(hyperparameters.log_noise, std::log(least_noise));
    }
    std::optional<Posterior> posterior =
        Posterior::Create(rows, targets, hyperparameters, group_of_column, mean, own_variances);
    if (posterior) return *std::move(posterior);
  }
  return Internal("the covariance of {} trials is not positive definite", targets.size());
}

// Cancelled once `stop` has fired: nobody waits for the rest of the fit.
absl::Status CheckGoesOn(const std::stop_token& stop) {
  return stop.stop_requested() ? Cancelled("the suggestion was cancelled") : absl::OkStatus();
}

Eigen::VectorXd Head(const Eigen::VectorXd& of, Eigen::Index size) {
  return of.size() > 0 ? Eigen::VectorXd(of.head(size)) : Eigen::VectorXd();
}

// Variances of the targets of values with these deviations: the scale is as good as straight over a deviation.
Eigen::VectorXd OwnVariances(const TargetScale& scale,
                             std::span<const double> values,
                             std::span<const double> deviations) {
  Eigen::VectorXd variances(static_cast<Eigen::Index>(deviations.size()));
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    const double above = scale.Forward(Finite(values[i] + deviations[i]));
    const double below = scale.Forward(Finite(values[i] - deviations[i]));
    const double half = std::min((above - below) / 2, kLargestDeviation);
    variances[static_cast<Eigen::Index>(i)] = deviations[i] > 0 ? half * half : 0.0;
  }
  return variances;
}

bool IsPrefix(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& of) {
  return rows.rows() <= of.rows() && rows.cols() == of.cols() && rows == of.topRows(rows.rows());
}

// Posterior of the rows by a factor that is computed at once up to `anchor` and appended to from there. Extends the
// cached factor if it belongs to the same hyperparameters and anchor and to a prefix of the rows: the bits are the same
// either way.
absl::StatusOr<Posterior> Grow(const Eigen::MatrixXd& rows,
                               const Eigen::VectorXd& targets,
                               const Hyperparameters& hyperparameters,
                               const std::vector<int>& group_of_column,
                               const MeanFunction& mean,
                               const Eigen::VectorXd& own_variances,
                               Eigen::Index anchor,
                               const FitCache* cache) {
  const bool is_cached = cache != nullptr && cache->factor.anchor() == anchor &&
                         cache->hyperparameters.Pack() == hyperparameters.Pack() &&
                         IsPrefix(cache->rows, rows) &&
                         cache->factor.own_variances() == Head(own_variances, cache->factor.size());
  if (is_cached) {
    return Posterior::Extend(
        cache->factor, rows, targets, hyperparameters, group_of_column, mean, own_variances);
  }
  // The first part may have raised the noise; the rest must use the same.
  VERNIER_ASSIGN_OR_RETURN(const Posterior first,
                           PosteriorGiven(rows.topRows(anchor),
                                          targets.head(anchor),
                                          hyperparameters,
                                          group_of_column,
                                          {},
                                          Head(own_variances, anchor)));
  return Posterior::Extend(
      first.factor(), rows, targets, first.hyperparameters(), group_of_column, mean, own_variances);
}

// Subsample to which hyperparameters are fitted: at most `most` rows, evenly spread. A fit costs n^3 at each
// evaluation, and a few hyperparameters need fewer trials than the posterior does.
struct FittingSet {
  FittingSet(const Eigen::MatrixXd& all_rows,
             std::span<const double> all_values,
             std::span<const double> all_deviations,
             std::size_t most) {
    const std::size_t all = all_values.size();
    const std::size_t kept = std::min(all, most);
    rows.resize(static_cast<Eigen::Index>(kept), all_rows.cols());
    values.resize(kept);
    if (!all_deviations.empty()) deviations.resize(kept);
    for (std::size_t i = 0; i < kept; ++i) {
      const std::size_t from = i * all / kept;
      rows.row(static_cast<Eigen::Index>(i)) = all_rows.row(static_cast<Eigen::Index>(from));
      values[i] = all_values[from];
      if (!deviations.empty()) deviations[i] = all_deviations[from];
    }
  }
  Eigen::MatrixXd rows;
  std::vector<double> values;
  std::vector<double> deviations;
};

Hyperparameters FitTo(const FeatureMap& features,
                      const Eigen::MatrixXd& rows,
                      const Eigen::VectorXd& targets,
                      const FitStarts& starts,
                      const std::stop_token& stop,
                      const Eigen::VectorXd& own_variances = {}) {
  return FitHyperparameters(rows,
                            features.group_of_column(),
                            features.groups(),
                            targets,
                            Prior(),
                            starts,
                            stop,
                            own_variances);
}

// Whether a refit skips a warp and keeps its last hyperparameters: the other warp has an additional standard start in
// this fit, and the trials continue those of the last fit. No fit then costs much more than another (docs/adr/0018).
bool Rests(std::size_t warp, const MetricSurrogate::FitPlan& plan, const MetricState& state) {
  const bool is_any_due = std::any_of(plan.standard_starts.begin(),
                                      plan.standard_starts.end(),
                                      [](const auto& start) { return start.has_value(); });
  return plan.grows && is_any_due && !plan.standard_starts[warp] && state.by_warp[warp];
}

// What nobody measured is no incumbent: at an expected value, the estimate is what the model believes, but no better than
// the best estimate of a measured value, if there is one.
void LimitExpected(std::span<const double> deviations,
                   const Eigen::VectorXd& fitted,
                   Eigen::VectorXd& estimates) {
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    if (deviations[i] == 0) best = std::max(best, estimates[static_cast<Eigen::Index>(i)]);
  }
  if (std::isinf(best)) return;
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    if (deviations[i] > 0) estimates[row] = std::min(fitted[row], best);
  }
}

// Fits a model of the targets under each warp and chooses the one whose leave-one-out predictions order the trials
// best. Returns its skill. Each metric chooses: neither warp alone is as good on all families of functions
// (docs/adr/0028).
absl::StatusOr<double> FitWarps(const FeatureMap& features,
                                const FittingSet& set,
                                const std::vector<PriorMean>& priors,
                                const MetricSurrogate::FitPlan& plan,
                                MetricState& state,
                                const std::stop_token& stop) {
  const Eigen::Map<const Eigen::VectorXd> values(set.values.data(), set.rows.rows());
  double most = -1.0;
  for (std::size_t i = 0; i < kWarps.size(); ++i) {
    const TargetScale scale(set.values, kWarps[i]);
    const Eigen::VectorXd targets = scale.Targets(set.values);
    const Eigen::VectorXd own_variances = OwnVariances(scale, set.values, set.deviations);
    // Hyperparameters describe what the prior mean function leaves over.
    const MeanFunction mean = FitMean(priors, set.rows, targets);
    Eigen::VectorXd residuals = targets;
    if (!mean.is_zero()) residuals -= mean.At(set.rows);
    if (!Rests(i, plan, state)) {
      state.by_warp[i] =
          FitTo(features,
                set.rows,
                residuals,
                {state.by_warp[i], plan.standard_starts[i], plan.size.warm_evaluations},
                stop,
                own_variances);
    }
    VERNIER_RETURN_IF_ERROR(CheckGoesOn(stop));
    VERNIER_ASSIGN_OR_RETURN(
        const Posterior posterior,
        PosteriorGiven(
            set.rows, targets, *state.by_warp[i], features.group_of_column(), mean, own_variances));
    const double skill = OrderingSkill(posterior.LeaveOneOutMeans(targets), values);
    if (skill > most) {
      most = skill;
      state.warp = kWarps[i];
    }
  }
  return most;
}

}  // namespace

absl::StatusOr<MetricSurrogate> MetricSurrogate::Fit(const FeatureMap& features,
                                                     const Eigen::MatrixXd& rows,
                                                     std::span<const double> values,
                                                     std::span<const double> deviations,
                                                     const std::vector<PriorMean>& priors,
                                                     FitPlan plan,
                                                     MetricState& state,
                                                     const FitCache* cache,
                                                     const std::stop_token& stop) {
  const bool refit = plan.refit || !state.by_warp[0];
  // New hyperparameters need a new factor, and so do rows that do not continue the last ones.
  if (refit || !plan.grows) state.anchor = rows.rows();
  std::optional<double> skill;
  if (refit) {
    VERNIER_ASSIGN_OR_RETURN(skill,
                             FitWarps(features,
                                      FittingSet(rows, values, deviations, plan.size.fitted),
                                      priors,
                                      plan,
                                      state,
                                      stop));
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
                                FitMean(priors, rows, targets),
                                OwnVariances(scale, values, deviations),
                                anchor,
                                cache));

  MetricSurrogate model(std::move(scale), std::move(posterior));
  model.skill_ = skill;
  const bool is_noisy = model.posterior_.noise() > kNoiselessShare * model.posterior_.signal();
  model.estimates_ = is_noisy ? model.posterior_.fitted() : targets;
  LimitExpected(deviations, model.posterior_.fitted(), model.estimates_);
  // If conditioning had to raise the noise, the factor belongs to other hyperparameters than those of the state.
  if (rows.rows() >= kLeastCached && plan.grows &&
      model.posterior_.hyperparameters().Pack() == hyperparameters.Pack()) {
    model.cache_ = std::make_shared<const FitCache>(FitCache{
        .hyperparameters = hyperparameters, .rows = rows, .factor = model.posterior_.factor()});
  }
  return model;
}

absl::StatusOr<Posterior> FitLabels(const FeatureMap& features,
                                    const Eigen::MatrixXd& rows,
                                    const Eigen::VectorXd& labels,
                                    const MetricSurrogate::FitPlan& plan,
                                    std::optional<Hyperparameters>& state,
                                    const std::stop_token& stop) {
  if (plan.refit || !state) {
    const FittingSet set(
        rows, {labels.data(), static_cast<std::size_t>(labels.size())}, {}, plan.size.fitted);
    const Eigen::Map<const Eigen::VectorXd> targets(set.values.data(), set.rows.rows());
    state = FitTo(features,
                  set.rows,
                  targets,
                  {.warm = state, .warm_evaluations = plan.size.warm_evaluations},
                  stop);
    // A border of the labels looks like a short length scale, with which the model would know nothing of a failure a
    // little away from it.
    for (double& log_length : state->log_length_scales) {
      log_length = std::max(log_length, std::log(kShortestOfLabels));
    }
  }
  VERNIER_RETURN_IF_ERROR(CheckGoesOn(stop));
  return PosteriorGiven(rows, labels, *state, features.group_of_column());
}

}  // namespace vernier::gp
