#include "algorithms/gaussian_process/surrogate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "algorithms/gaussian_process/model/fit.h"
#include "algorithms/gaussian_process/model/model_choice.h"
#include "src/core/pareto.h"
#include "src/core/status.h"

// The surrogate fits one model per metric and the failure model, conditions them on pending trials (kriging believer,
// docs/adr/0020), and derives from them what counts as an improvement. The number of fits is in the state, and which
// suggestion crosses a border or takes which reference point follows from numbers of trials, so that a call replays.
namespace vernier::gp {
namespace {

// Label of a failed trial; that of one that worked is 0, the prior mean.
constexpr double kFailedLabel = -2.0;
// Least label of a trial that works, where failures have a border (docs/adr/0027). Nearer to success than to failure:
// right at the border every other trial would fail.
constexpr double kWorks = -0.7;
// OrderingSkill of the labels from which failures have a border rather than come by chance (docs/adr/0027).
constexpr double kSkillOfBorder = 0.75;
// One suggestion in this many may cross a border. Without it, a better region beyond is never found (docs/adr/0027).
constexpr std::int64_t kCrossings = 4;
// Variance added to that of the predicted label. A choice: keeps the chance of success away from 0 and 1 at labelled
// points.
constexpr double kLabelNoise = 0.02;
// Largest number of trials in the failure model (docs/adr/0027): with all of them, a suggestion at 1,000 trials took
// 108 ms instead of 29.
constexpr Eigen::Index kMostLabels = 400;
// Number of equal values from which on the expected improvement is told. A choice: few may be a start, many are all
// there is.
constexpr Eigen::Index kLeastFlat = 20;
// Number of points around which a search has candidates. A choice; more where the best is a front.
constexpr std::size_t kCentres = 5;
constexpr std::size_t kCentresOfFront = 10;
// Shortfall of a trial with an unknown slack. A choice: one standard deviation, as a trial that clearly breaks the
// constraint.
constexpr double kUnknownShortfall = 1.0;
// Number of trials up to which every trial refits, and the growth that refits beyond. A choice: one trial among more
// than 50 hardly moves the optimum, and fits cost n^3.
constexpr std::int64_t kAlwaysRefit = 50;
constexpr double kRefitGrowth = 0.05;
// Trials between refits near the best one, whose neighbours change as the search goes on (docs/adr/0019).
constexpr std::int64_t kNearbyRefit = 20;
// Fewest trials for an additional standard start. From the tenth trial on it costs 0.01 at 25 trials: with so few
// trials the better posterior is not the better guide (docs/adr/0018).
constexpr std::int64_t kLeastForStandardStart = 15;
// One fit in this many has one. At every second fit it gains no more beyond noise, and costs more (docs/adr/0018).
constexpr std::int64_t kFitsPerStandardStart = 4;
// The warps' standard starts fall in different fits, so that no fit costs much more than the others.
constexpr std::int64_t kFitsBetweenWarps = kFitsPerStandardStart / std::ssize(kWarps);
// Distance of the reference point below the worst of the front, in extents of the front. Best of those measured in
// turns with the worst of all trials (docs/adr/0014).
constexpr double kReferenceDepth = 0.1;
// Largest front by the number of objectives; of more points, a spread subsample. A choice: bounds the number of boxes,
// which grows with the square of the points for four objectives.
constexpr std::size_t kMostOfFront[] = {0, 1, 400, 100, 40};

// Points on each side, and reach in deviations, of a sum over a normal distribution. A choice: the rest weighs 2e-9.
constexpr int kQuantiles = 60;
constexpr double kQuantileReach = 6.0;

// Indices of the values that are not NaN.
std::vector<std::size_t> NotNan(const std::vector<double>& values) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) indices.push_back(i);
  }
  return indices;
}

// Indices of the `count` largest, largest first; of equal ones the earlier first.
std::vector<std::size_t> Largest(const Eigen::VectorXd& values, std::size_t count) {
  std::vector<std::size_t> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) {
    return values[static_cast<Eigen::Index>(a)] > values[static_cast<Eigen::Index>(b)];
  });
  order.resize(std::min(order.size(), count));
  return order;
}

// Subsample of `count` rows, evenly spread; all rows if they are no more.
Eigen::MatrixXd Thinned(const Eigen::MatrixXd& rows, Eigen::Index count) {
  if (rows.rows() <= count) return rows;
  Eigen::MatrixXd kept(count, rows.cols());
  for (Eigen::Index i = 0; i < count; ++i) kept.row(i) = rows.row(i * rows.rows() / count);
  return kept;
}

// Subsample of `count` rows that shows where a border to `others` runs and what lies far from it: half are the rows
// nearest to any of the others, half are evenly spread over the rest. All rows if they are no more.
Eigen::MatrixXd NearBorder(const Eigen::MatrixXd& rows,
                           const Eigen::MatrixXd& others,
                           Eigen::Index count) {
  if (rows.rows() <= count) return rows;
  Eigen::VectorXd distance(rows.rows());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    distance[i] = (others.rowwise() - rows.row(i)).rowwise().squaredNorm().minCoeff();
  }
  const auto all = static_cast<std::size_t>(rows.rows());
  std::vector<std::size_t> order = Largest(-distance, all);
  const auto half = static_cast<std::ptrdiff_t>(count / 2);
  std::vector<std::size_t> rest(order.begin() + half, order.end());
  std::sort(rest.begin(), rest.end());
  Eigen::MatrixXd chosen(count, rows.cols());
  order.resize(static_cast<std::size_t>(half));
  chosen.topRows(half) = rows(order, Eigen::all);
  chosen.bottomRows(count - half) = Thinned(rows(rest, Eigen::all), count - half);
  return chosen;
}

// Subsample of labelled points for the failure model: the failed, thinned to half of the limit if need be, and of those
// that worked the ones near a border first.
struct LabelledPoints {
  LabelledPoints(const Eigen::MatrixXd& all_worked, const Eigen::MatrixXd& all_failed) {
    const Eigen::MatrixXd failed =
        Thinned(all_failed, std::max(kMostLabels / 2, kMostLabels - all_worked.rows()));
    const Eigen::MatrixXd chosen = NearBorder(all_worked, failed, kMostLabels - failed.rows());
    worked = chosen.rows();
    rows.resize(worked + failed.rows(), chosen.cols());
    rows << chosen, failed;
    labels = Eigen::VectorXd::Zero(rows.rows());
    labels.tail(failed.rows()).setConstant(kFailedLabel);
  }
  Eigen::MatrixXd rows;
  Eigen::VectorXd labels;
  Eigen::Index worked;  // Number of points that worked; they come first.
};

// Whether failures have a border: leave-one-out predictions tell the failed from the others. Else they come by chance.
// The share of noise in the model's labels does not tell the two apart where most trials fail (docs/adr/0027).
bool HaveBorder(const Posterior& success, const Eigen::VectorXd& labels) {
  return OrderingSkill(success.LeaveOneOutMeans(labels), labels) >= kSkillOfBorder;
}

// Posterior label that nine in ten of the points that worked exceed.
double LeastOfWorked(const Posterior& success, Eigen::Index worked) {
  const Eigen::VectorXd& fitted = success.fitted();
  std::vector<double> labels(fitted.begin(), fitted.begin() + worked);
  const auto tenth = labels.begin() + static_cast<std::ptrdiff_t>(labels.size() / 10);
  std::nth_element(labels.begin(), tenth, labels.end());
  return *tenth;
}

// Requirement that a constraint's slack is at least 0, on its model's warped scale.
Requirement IsKept(const MetricSurrogate& constraint) {
  return {.model = &constraint.posterior(), .least = constraint.scale().Forward(0)};
}

// Indices of the points that no other dominates.
std::vector<std::size_t> Front(const std::vector<ObjectiveVector>& points) {
  const std::vector<bool> dominated = Dominated(points);
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!dominated[i]) front.push_back(i);
  }
  return front;
}

// Reference point a little below the worst of the front; in objectives in which the front has no extent, the worst of
// all.
ObjectiveVector BelowFront(const std::vector<ObjectiveVector>& front,
                           const ObjectiveVector& worst) {
  ObjectiveVector reference = worst;
  for (std::size_t j = 0; j < worst.size(); ++j) {
    const auto by_value = [j](const auto& a, const auto& b) { return a[j] < b[j]; };
    const auto [least, most] = std::minmax_element(front.begin(), front.end(), by_value);
    const double extent = (*most)[j] - (*least)[j];
    if (extent > 0) reference[j] = (*least)[j] - kReferenceDepth * extent;
  }
  return reference;
}

}  // namespace

bool IsRefitDue(std::int64_t fitted_at, std::int64_t now) {
  if (now <= kAlwaysRefit || now < fitted_at) return now != fitted_at;
  return static_cast<double>(now) >= (1.0 + kRefitGrowth) * static_cast<double>(fitted_at);
}

bool IsNearbyRefitDue(std::int64_t fitted_at, std::int64_t now) {
  return fitted_at == 0 || now < fitted_at || now >= fitted_at + kNearbyRefit;
}

StandardStartByWarp StandardStartsDue(std::int64_t fits, std::int64_t trials) {
  StandardStartByWarp due;
  if (trials < kLeastForStandardStart) return due;
  for (std::size_t i = 0; i < due.size(); ++i) {
    const std::int64_t turn = fits + static_cast<std::int64_t>(i) * kFitsBetweenWarps;
    if (turn % kFitsPerStandardStart == 0) due[i] = turn / kFitsPerStandardStart;
  }
  return due;
}

absl::StatusOr<Surrogate> Surrogate::Fit(const FeatureMap& features,
                                         const PriorMeans& priors,
                                         TrainingSet set,
                                         const std::vector<Coordinates>& pending,
                                         ModelState& state,
                                         const FitCaches& caches,
                                         const std::stop_token& stop) {
  const Eigen::MatrixXd rows = features.Matrix(set.points);
  const bool refit = set.is_nearby ? IsNearbyRefitDue(state.fitted_at, set.trials)
                                   : IsRefitDue(state.fitted_at, set.trials);
  if (refit) {
    state.fitted_at = set.trials;
    ++state.fits;
  }
  MetricSurrogate::FitPlan plan{.refit = refit,
                                .standard_starts = StandardStartsDue(state.fits, set.trials),
                                .grows = set.is_whole,
                                .size = set.size};
  // A subsample changes from fit to fit, so its last optimum is farther away: with fewer evaluations the regret was a third
  // larger (docs/research/basins.md).
  if (!set.is_whole) plan.size.warm_evaluations = kWarmEvaluations;
  const auto cache_of = [&caches](std::size_t metric) {
    return metric < caches.size() ? caches[metric].get() : nullptr;
  };
  // Caches and priors may be missing, or fewer than the metrics: a metric without one does without.
  const std::vector<PriorMean> none;
  const auto priors_of = [&](std::size_t metric) -> const std::vector<PriorMean>& {
    return metric < priors.size() ? priors[metric] : none;
  };

  Surrogate surrogate;
  for (std::size_t j = 0; j < set.values.size(); ++j) {
    VERNIER_ASSIGN_OR_RETURN(MetricSurrogate model,
                             MetricSurrogate::Fit(features,
                                                  rows,
                                                  set.values[j],
                                                  set.deviations[j],
                                                  priors_of(j),
                                                  plan,
                                                  state.metrics[j],
                                                  cache_of(j),
                                                  stop));
    surrogate.objectives_.push_back(std::move(model));
  }
  std::vector<std::vector<std::size_t>> seen;
  for (std::size_t k = 0; k < set.slacks.size(); ++k) {
    const std::size_t metric = set.values.size() + k;
    surrogate.constraints_.emplace_back();
    seen.push_back(NotNan(set.slacks[k]));
    if (seen.back().empty()) continue;
    VERNIER_ASSIGN_OR_RETURN(surrogate.constraints_.back(),
                             MetricSurrogate::Fit(features,
                                                  rows(seen.back(), Eigen::all),
                                                  Chosen(set.slacks[k], seen.back()),
                                                  /*deviations=*/{},
                                                  priors_of(metric),
                                                  plan,
                                                  state.metrics[metric],
                                                  cache_of(metric),
                                                  stop));
  }
  const Eigen::VectorXd shortfall = surrogate.Shortfall(set.points.size(), seen);
  surrogate.SetTriedPoints(std::move(set.points), shortfall);
  surrogate.note_ = std::move(set.note);
  if (!set.failed.empty()) {
    const LabelledPoints labelled(rows, features.Matrix(set.failed));
    VERNIER_ASSIGN_OR_RETURN(
        surrogate.success_,
        FitLabels(features, labelled.rows, labelled.labels, plan, state.success, stop));
    const bool border = HaveBorder(*surrogate.success_, labelled.labels);
    surrogate.worked_ =
        border ? kWorks : std::min(kWorks, LeastOfWorked(*surrogate.success_, labelled.worked));
    surrogate.is_border_firm_ = border && set.trials % kCrossings != 0;
  }
  const Eigen::MatrixXd out = features.Matrix(pending);
  for (Eigen::Index i = 0; i < out.rows(); ++i) surrogate.AddPending(out.row(i));
  return surrogate;
}

Eigen::VectorXd Surrogate::Shortfall(std::size_t count,
                                     const std::vector<std::vector<std::size_t>>& seen) const {
  Eigen::VectorXd shortfall = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    if (!constraints_[k]) continue;
    // A tried point without a known slack is not in the constraint's model; it is no incumbent.
    Eigen::VectorXd of_this = Eigen::VectorXd::Constant(shortfall.size(), kUnknownShortfall);
    const double least = IsKept(*constraints_[k]).least;
    for (std::size_t i = 0; i < seen[k].size(); ++i) {
      const double slack = constraints_[k]->estimates()[static_cast<Eigen::Index>(i)];
      of_this[static_cast<Eigen::Index>(seen[k][i])] = std::max(least - slack, 0.0);
    }
    shortfall += of_this;
  }
  return shortfall;
}

void Surrogate::SetTriedPoints(std::vector<Coordinates> points, const Eigen::VectorXd& shortfall) {
  tried_ = std::move(points);
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    if (shortfall[static_cast<Eigen::Index>(i)] == 0) feasible_tried_.push_back(i);
  }
  for (const std::size_t i : feasible_tried_) {
    ObjectiveVector& believed = feasible_.emplace_back();
    for (const MetricSurrogate& objective : objectives_) {
      believed.push_back(objective.estimates()[static_cast<Eigen::Index>(i)]);
    }
  }
  for (const MetricSurrogate& objective : objectives_) {
    worst_.push_back(objective.estimates().minCoeff());
  }
  // Best by the posterior mean: a value may have been luck (docs/adr/0019). While no point keeps the constraints, those
  // nearest to keeping them are the best.
  std::vector<std::size_t> best;
  if (feasible_tried_.empty()) {
    best = Largest(-shortfall, kCentres);
  } else if (objectives_.size() == 1) {
    const Eigen::VectorXd& means = objectives_.front().posterior().fitted();
    for (const std::size_t i : Largest(means(feasible_tried_), kCentres))
      best.push_back(feasible_tried_[i]);
  } else {
    const std::vector<std::size_t> front = Front(feasible_);
    for (const std::size_t i : Spread(Chosen(feasible_, front), kCentresOfFront)) {
      best.push_back(feasible_tried_[front[i]]);
    }
  }
  centres_ = Chosen(tried_, best);
}

void Surrogate::AddPending(const Eigen::RowVectorXd& features) {
  // Means are taken before the model changes; they do not change, but for rounding.
  ObjectiveVector mean;
  for (MetricSurrogate& objective : objectives_) {
    mean.push_back(objective.posterior().Means(features)[0]);
    objective.AddPending(features);
  }
  bool is_feasible = true;
  for (std::optional<MetricSurrogate>& constraint : constraints_) {
    if (!constraint) continue;
    const double slack = constraint->posterior().Means(features)[0];
    is_feasible = is_feasible && slack >= IsKept(*constraint).least;
    constraint->AddPending(features);
  }
  // The incumbent is raised to what is expected to come in, so that one rule serves batches of any size
  // (docs/adr/0020).
  if (is_feasible) feasible_.push_back(std::move(mean));
}

BoxDecomposition Surrogate::Improvement() const {
  if (feasible_.empty()) return Decompose({}, worst_);
  if (objectives_.size() == 1) {
    return Decompose({}, *std::max_element(feasible_.begin(), feasible_.end()));
  }
  const std::vector<ObjectiveVector> front = Chosen(feasible_, Front(feasible_));
  const std::vector<std::size_t> spread = Spread(front, kMostOfFront[objectives_.size()]);
  // Pending points are rows, too, so the reference points alternate within a batch.
  const bool looks_beyond = objectives_[0].posterior().scaled_points().rows() % 2 == 1;
  return Decompose(Chosen(front, spread), looks_beyond ? worst_ : BelowFront(front, worst_));
}

std::optional<double> Surrogate::ExpectedImprovement(const Eigen::RowVectorXd& features) const {
  if (objectives_.size() > 1 || feasible_.empty()) return std::nullopt;
  const MetricSurrogate& objective = objectives_.front();
  // Equal values give the targets no scale to convert an improvement with.
  if (objective.scale().is_flat() && objective.estimates().size() < kLeastFlat) return std::nullopt;
  const Prediction at = objective.posterior().Predict(features).front();
  const double deviation = std::sqrt(at.variance);
  const double best = std::max_element(feasible_.begin(), feasible_.end())->front();
  const TargetScale& scale = objective.scale();
  const double from = scale.BackwardInUnits(best);
  // The trapezoid rule: for integrands that fade at both ends it is as exact as any. There is a closed form on the
  // warped scale only.
  double improvement = 0;
  double weights = 0;
  for (int i = -kQuantiles; i <= kQuantiles; ++i) {
    const double z = kQuantileReach * i / kQuantiles;
    const double weight = std::exp(-0.5 * z * z);
    weights += weight;
    const double value = at.mean + deviation * z;
    if (value > best) improvement += weight * (scale.BackwardInUnits(value) - from);
  }
  double log_kept = 0;
  for (const std::optional<Requirement>& constraint : Requirements()) {
    if (!constraint) continue;
    log_kept += LogProbability(*constraint, constraint->model->Predict(features).front());
  }
  return Finite(scale.unit() * (std::exp(log_kept) * improvement / weights));
}

std::vector<std::optional<Requirement>> Surrogate::Requirements() const {
  std::vector<std::optional<Requirement>> requirements(constraints_.size());
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    if (constraints_[k]) requirements[k] = IsKept(*constraints_[k]);
  }
  return requirements;
}

std::optional<Requirement> Surrogate::Success() const {
  if (!success_) return std::nullopt;
  return Requirement{.model = &*success_,
                     .least = worked_,
                     .extra_variance = kLabelNoise,
                     .is_firm = is_border_firm_};
}

Acquisition Surrogate::MakeAcquisition() const { return MakeAcquisition(Improvement()); }

Acquisition Surrogate::MakeAcquisitionOver(
    const std::function<bool(const Coordinates&)>& counts) const {
  ObjectiveVector best = worst_;
  for (std::size_t i = 0; i < feasible_tried_.size(); ++i) {
    if (counts(tried_[feasible_tried_[i]])) best = std::max(best, feasible_[i]);
  }
  return MakeAcquisition(Decompose({}, best));
}

Acquisition Surrogate::MakeAcquisition(BoxDecomposition improvement) const {
  std::vector<const Posterior*> objectives;
  for (const MetricSurrogate& objective : objectives_) objectives.push_back(&objective.posterior());
  std::vector<Requirement> requirements;
  for (const std::optional<Requirement>& constraint : Requirements()) {
    if (constraint) requirements.push_back(*constraint);
  }
  if (const std::optional<Requirement> success = Success()) requirements.push_back(*success);
  return {std::move(objectives), std::move(improvement), std::move(requirements)};
}

FitCaches Surrogate::caches() const {
  FitCaches caches;
  for (const MetricSurrogate& objective : objectives_) caches.push_back(objective.cache());
  for (const std::optional<MetricSurrogate>& constraint : constraints_) {
    caches.push_back(constraint ? constraint->cache() : nullptr);
  }
  return caches;
}

}  // namespace vernier::gp
