#include "algorithms/gaussian_process/surrogate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "algorithms/gaussian_process/model/model_choice.h"
#include "src/core/pareto.h"
#include "src/core/status.h"

namespace vernier::gp {
namespace {

// What a failed trial is labelled; one that worked is 0, and so is, to begin with, what nobody has tried.
constexpr double kFailedLabel = -2.0;
// The label that a trial must rather have than not to be proposed, where failures have a border. Nearer to what works than
// to what fails: right at the border every other trial would fail.
constexpr double kWorks = -0.7;
// Failures that can be told so rightly (OrderingSkill) have a border.
constexpr double kSkillOfBorder = 0.75;
// One suggestion of so many may cross it for what it promises: there may be more behind it that works.
constexpr std::int64_t kCrossings = 4;
// Of labels that are their mean: never be surer of a failure than one in 10^12.
constexpr double kLabelNoise = 0.02;
// So many trials tell the failure model, at most.
constexpr Eigen::Index kMostLabels = 400;
constexpr Eigen::Index kLeastFlat = 20;
constexpr std::size_t kCentres = 5;
constexpr std::size_t kCentresOfFront = 10;
// Of a trial of which it is not known how far it keeps a constraint.
constexpr double kUnknownShortfall = 1.0;
constexpr std::int64_t kAlwaysRefit = 50;
constexpr double kRefitGrowth = 0.05;
// Trials near the best one change as the search goes on.
constexpr std::int64_t kNearbyRefit = 20;
// Sooner, other explanations of the data are as good, and worse for the search (docs/adr/0018).
constexpr std::int64_t kLeastForStandardStart = 15;
constexpr std::int64_t kFitsPerStandardStart = 4;
// The warps' models take turns, lest one fit be much dearer than the others.
constexpr std::int64_t kFitsBetweenWarps = kFitsPerStandardStart / std::ssize(kWarps);
// How far the reference point lies below the worst of the front, in the front's extents.
constexpr double kReferenceDepth = 0.1;
// Of a larger front only so many points are looked at, by the number of objectives.
constexpr std::size_t kMostOfFront[] = {0, 1, 400, 100, 40};

// Where an expectation over a normal distribution is summed: so many points on each side, up to so many deviations.
constexpr int kQuantiles = 60;
constexpr double kQuantileReach = 6.0;

// Where something is known.
std::vector<std::size_t> Known(const std::vector<double>& values) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) known.push_back(i);
  }
  return known;
}

// The indices of the `count` largest, largest first; of equal ones the earlier.
std::vector<std::size_t> Largest(const Eigen::VectorXd& values, std::size_t count) {
  std::vector<std::size_t> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) {
    return values[static_cast<Eigen::Index>(a)] > values[static_cast<Eigen::Index>(b)];
  });
  order.resize(std::min(order.size(), count));
  return order;
}

// `count` of the rows, evenly spread; all if they are no more.
Eigen::MatrixXd Thinned(const Eigen::MatrixXd& rows, Eigen::Index count) {
  if (rows.rows() <= count) return rows;
  Eigen::MatrixXd kept(count, rows.cols());
  for (Eigen::Index i = 0; i < count; ++i) kept.row(i) = rows.row(i * rows.rows() / count);
  return kept;
}

// Those of the rows that tell where a border runs and what lies far from it: half the ones nearest to any of `others`, half
// spread evenly over the rest; all if they are no more than `count`.
Eigen::MatrixXd AboutBorder(const Eigen::MatrixXd& rows,
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

// Of many points, some.
struct Labelled {
  Labelled(const Eigen::MatrixXd& all_worked, const Eigen::MatrixXd& all_failed) {
    const Eigen::MatrixXd failed =
        Thinned(all_failed, std::max(kMostLabels / 2, kMostLabels - all_worked.rows()));
    const Eigen::MatrixXd chosen = AboutBorder(all_worked, failed, kMostLabels - failed.rows());
    worked = chosen.rows();
    rows.resize(worked + failed.rows(), chosen.cols());
    rows << chosen, failed;
    labels = Eigen::VectorXd::Zero(rows.rows());
    labels.tail(failed.rows()).setConstant(kFailedLabel);
  }
  Eigen::MatrixXd rows;
  Eigen::VectorXd labels;
  Eigen::Index worked;  // The first ones.
};

// Whether failures have a border: predictions of each point's label from the others tell those that failed from those that
// worked. Else they come by chance.
bool HaveBorder(const Posterior& success, const Eigen::VectorXd& labels) {
  return OrderingSkill(success.LeaveOneOutMeans(labels), labels) >= kSkillOfBorder;
}

// What nine in ten of the points that worked are believed to be above.
double LeastOfWorked(const Posterior& success, Eigen::Index worked) {
  const Eigen::VectorXd& fitted = success.fitted();
  std::vector<double> labels(fitted.begin(), fitted.begin() + worked);
  const auto tenth = labels.begin() + static_cast<std::ptrdiff_t>(labels.size() / 10);
  std::nth_element(labels.begin(), tenth, labels.end());
  return *tenth;
}

// What a constraint's slack must be at least, as the model sees it.
Requirement IsKept(const MetricModel& constraint) {
  return {.model = &constraint.posterior(), .least = constraint.scale().Forward(0)};
}

// The points that no other dominates: indices.
std::vector<std::size_t> Front(const std::vector<ObjectiveVector>& points) {
  const std::vector<bool> dominated = Dominated(points);
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!dominated[i]) front.push_back(i);
  }
  return front;
}

// A little below the worst of the front; where it has no extent, the worst of all points.
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
                                         const Beliefs& beliefs,
                                         TrainingSet set,
                                         const std::vector<Coordinates>& pending,
                                         ModelState& state,
                                         const Memory& known,
                                         const std::stop_token& stop) {
  const Eigen::MatrixXd rows = features.Matrix(set.points);
  const bool refit = set.is_nearby ? IsNearbyRefitDue(state.fitted_at, set.trials)
                                   : IsRefitDue(state.fitted_at, set.trials);
  if (refit) {
    state.fitted_at = set.trials;
    ++state.fits;
  }
  const MetricModel::Occasion occasion{.refit = refit,
                                       .besides = StandardStartsDue(state.fits, set.trials),
                                       .grows = set.is_whole,
                                       .fitted = set.fitted};
  const auto known_of = [&known](std::size_t metric) {
    return metric < known.size() ? known[metric].get() : nullptr;
  };
  const std::vector<Belief> none;
  const auto believed_of = [&](std::size_t metric) -> const std::vector<Belief>& {
    return metric < beliefs.size() ? beliefs[metric] : none;
  };

  Surrogate surrogate;
  for (std::size_t j = 0; j < set.values.size(); ++j) {
    VERNIER_ASSIGN_OR_RETURN(MetricModel model,
                             MetricModel::Fit(features,
                                              rows,
                                              set.values[j],
                                              believed_of(j),
                                              occasion,
                                              state.metrics[j],
                                              known_of(j),
                                              stop));
    surrogate.objectives_.push_back(std::move(model));
  }
  std::vector<std::vector<std::size_t>> seen;
  for (std::size_t k = 0; k < set.slacks.size(); ++k) {
    const std::size_t metric = set.values.size() + k;
    surrogate.constraints_.emplace_back();
    seen.push_back(Known(set.slacks[k]));
    if (seen.back().empty()) continue;
    VERNIER_ASSIGN_OR_RETURN(surrogate.constraints_.back(),
                             MetricModel::Fit(features,
                                              rows(seen.back(), Eigen::all),
                                              Chosen(set.slacks[k], seen.back()),
                                              believed_of(metric),
                                              occasion,
                                              state.metrics[metric],
                                              known_of(metric),
                                              stop));
  }
  const Eigen::VectorXd shortfall = surrogate.Shortfall(set.points.size(), seen);
  surrogate.LookAtPoints(std::move(set.points), shortfall);
  surrogate.note_ = std::move(set.note);
  if (!set.failed.empty()) {
    const Labelled labelled(rows, features.Matrix(set.failed));
    VERNIER_ASSIGN_OR_RETURN(
        surrogate.success_,
        FitLabels(features, labelled.rows, labelled.labels, occasion, state.success, stop));
    const bool border = HaveBorder(*surrogate.success_, labelled.labels);
    surrogate.worked_ =
        border ? kWorks : std::min(kWorks, LeastOfWorked(*surrogate.success_, labelled.worked));
    surrogate.is_border_firm_ = border && set.trials % kCrossings != 0;
  }
  const Eigen::MatrixXd out = features.Matrix(pending);
  for (Eigen::Index i = 0; i < out.rows(); ++i) surrogate.Believe(out.row(i));
  return surrogate;
}

Eigen::VectorXd Surrogate::Shortfall(std::size_t count,
                                     const std::vector<std::vector<std::size_t>>& seen) const {
  Eigen::VectorXd shortfall = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    if (!constraints_[k]) continue;
    Eigen::VectorXd of_this = Eigen::VectorXd::Constant(shortfall.size(), kUnknownShortfall);
    const double least = IsKept(*constraints_[k]).least;
    for (std::size_t i = 0; i < seen[k].size(); ++i) {
      const double slack = constraints_[k]->believed()[static_cast<Eigen::Index>(i)];
      of_this[static_cast<Eigen::Index>(seen[k][i])] = std::max(least - slack, 0.0);
    }
    shortfall += of_this;
  }
  return shortfall;
}

void Surrogate::LookAtPoints(std::vector<Coordinates> points, const Eigen::VectorXd& shortfall) {
  tried_ = std::move(points);
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    if (shortfall[static_cast<Eigen::Index>(i)] == 0) feasible_tried_.push_back(i);
  }
  for (const std::size_t i : feasible_tried_) {
    ObjectiveVector& believed = feasible_.emplace_back();
    for (const MetricModel& objective : objectives_) {
      believed.push_back(objective.believed()[static_cast<Eigen::Index>(i)]);
    }
  }
  for (const MetricModel& objective : objectives_) {
    worst_.push_back(objective.believed().minCoeff());
  }
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

void Surrogate::Believe(const Eigen::RowVectorXd& features) {
  ObjectiveVector mean;
  for (MetricModel& objective : objectives_) {
    mean.push_back(objective.posterior().Means(features)[0]);
    objective.Believe(features);
  }
  bool is_feasible = true;
  for (std::optional<MetricModel>& constraint : constraints_) {
    if (!constraint) continue;
    const double slack = constraint->posterior().Means(features)[0];
    is_feasible = is_feasible && slack >= IsKept(*constraint).least;
    constraint->Believe(features);
  }
  if (is_feasible) feasible_.push_back(std::move(mean));
}

BoxDecomposition Surrogate::Improvement() const {
  if (feasible_.empty()) return Decompose({}, worst_);
  if (objectives_.size() == 1) {
    return Decompose({}, *std::max_element(feasible_.begin(), feasible_.end()));
  }
  const std::vector<ObjectiveVector> front = Chosen(feasible_, Front(feasible_));
  const std::vector<std::size_t> spread = Spread(front, kMostOfFront[objectives_.size()]);
  const bool looks_beyond = objectives_[0].posterior().scaled_points().rows() % 2 == 1;
  return Decompose(Chosen(front, spread), looks_beyond ? worst_ : BelowFront(front, worst_));
}

std::optional<double> Surrogate::ExpectedImprovement(const Eigen::RowVectorXd& features) const {
  if (objectives_.size() > 1 || feasible_.empty()) return std::nullopt;
  const MetricModel& objective = objectives_.front();
  // Few values that are all the same may be a start, many are all that there is.
  if (objective.scale().is_flat() && objective.believed().size() < kLeastFlat) return std::nullopt;
  const Prediction at = objective.posterior().Predict(features).front();
  const double deviation = std::sqrt(at.variance);
  const double best = std::max_element(feasible_.begin(), feasible_.end())->front();
  const TargetScale& scale = objective.scale();
  const double from = scale.BackwardInUnits(best);
  // The trapezoid rule, which for what fades at both ends is as exact as any.
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
  for (const MetricModel& objective : objectives_) objectives.push_back(&objective.posterior());
  std::vector<Requirement> requirements;
  for (const std::optional<Requirement>& constraint : Requirements()) {
    if (constraint) requirements.push_back(*constraint);
  }
  if (const std::optional<Requirement> success = Success()) requirements.push_back(*success);
  return {std::move(objectives), std::move(improvement), std::move(requirements)};
}

Memory Surrogate::remembered() const {
  Memory memory;
  for (const MetricModel& objective : objectives_) memory.push_back(objective.remembered());
  for (const std::optional<MetricModel>& constraint : constraints_) {
    memory.push_back(constraint ? constraint->remembered() : nullptr);
  }
  return memory;
}

}  // namespace vernier::gp
