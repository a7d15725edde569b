#include "algorithms/gaussian_process/surrogate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algorithms/gaussian_process/fit.h"
#include "algorithms/gaussian_process/likelihood.h"
#include "algorithms/gaussian_process/model_choice.h"
#include "fmt/format.h"
#include "src/core/status.h"

namespace vernier::gp {
namespace {

// Below so many failures they are given a poor value; from it on they get a model of their own.
constexpr std::size_t kFailuresForModel = 3;
// Of the signal variance: with less noise than this, an observed value is taken at its word.
constexpr double kNoiselessShare = 1e-3;
constexpr std::size_t kCentres = 5;
constexpr std::int64_t kAlwaysRefit = 50;
constexpr double kRefitGrowth = 0.05;
constexpr std::size_t kMostFitted = 300;
// Below so many points a factor is computed sooner than remembered.
constexpr Eigen::Index kLeastRemembered = 150;

// What the model of the objective learns from.
struct TrainingSet {
  std::vector<Coordinates> points;
  std::vector<double> values;
  std::vector<Coordinates> failed;  // For the failure model; empty if there is none.
  bool is_whole = true;             // Holds every trial with a value.
  std::string note;
};

// The worst quarter's upper end: poor, but no worse than trials that worked, so that failures by chance do not bend the
// model out of shape.
double PoorValue(std::vector<double> values) {
  const auto quarter = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), quarter, values.end());
  return *quarter;
}

TrainingSet Select(const History& history, std::size_t max_points) {
  TrainingSet set;
  for (const std::size_t i : ChooseModelled(history.values, max_points)) {
    set.points.push_back(history.points[i]);
    set.values.push_back(history.values[i]);
  }
  set.is_whole = set.points.size() == history.points.size();
  if (!set.is_whole) {
    set.note =
        fmt::format("the model looks at {} of {} trials", set.points.size(), history.points.size());
  }
  if (history.failed.size() >= kFailuresForModel) {
    const std::size_t kept = std::min(history.failed.size(), max_points);
    set.failed.assign(history.failed.end() - static_cast<std::ptrdiff_t>(kept),
                      history.failed.end());
    return set;
  }
  const double poor = PoorValue(set.values);
  for (const Coordinates& u : history.failed) {
    set.points.push_back(u);
    set.values.push_back(poor);
  }
  return set;
}

// Raises the noise until the covariance matrix can be factorised.
absl::StatusOr<Posterior> Condition(const Eigen::MatrixXd& rows,
                                    const Eigen::VectorXd& targets,
                                    Hyperparameters hyperparameters,
                                    const std::vector<int>& group_of_column) {
  for (const double least_noise : {0.0, 1e-4, 1e-2, 1.0}) {
    if (least_noise > 0) {
      hyperparameters.log_noise = std::max(hyperparameters.log_noise, std::log(least_noise));
    }
    std::optional<Posterior> posterior =
        Posterior::Create(rows, targets, hyperparameters, group_of_column);
    if (posterior) return *std::move(posterior);
  }
  return Internal("the covariance of {} trials is not positive definite", targets.size());
}

bool IsPrefix(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& of) {
  return rows.rows() <= of.rows() && rows.cols() == of.cols() && rows == of.topRows(rows.rows());
}

// Condition, the factor of the rows behind `anchor` being appended, to what is known if that is the same so far.
absl::StatusOr<Posterior> Grow(const Eigen::MatrixXd& rows,
                               const Eigen::VectorXd& targets,
                               const Hyperparameters& hyperparameters,
                               const std::vector<int>& group_of_column,
                               Eigen::Index anchor,
                               const Remembered* known) {
  const bool is_known = known != nullptr && known->factor.anchor() == anchor &&
                        known->hyperparameters.Pack() == hyperparameters.Pack() &&
                        IsPrefix(known->rows, rows);
  if (is_known) {
    return Posterior::Extend(known->factor, rows, targets, hyperparameters, group_of_column);
  }
  VERNIER_ASSIGN_OR_RETURN(
      const Posterior first,
      Condition(rows.topRows(anchor), targets.head(anchor), hyperparameters, group_of_column));
  return Posterior::Extend(first.factor(), rows, targets, first.hyperparameters(), group_of_column);
}

// Of many trials, so many are looked at when hyperparameters are fitted, evenly spread.
struct FittingSet {
  Eigen::MatrixXd rows;
  std::vector<double> values;
};

FittingSet Thinned(const Eigen::MatrixXd& rows, const std::vector<double>& values) {
  const auto all = values.size();
  const std::size_t kept = std::min(all, kMostFitted);
  FittingSet set{.rows = Eigen::MatrixXd(static_cast<Eigen::Index>(kept), rows.cols()),
                 .values = std::vector<double>(kept)};
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t from = i * all / kept;
    set.rows.row(static_cast<Eigen::Index>(i)) = rows.row(static_cast<Eigen::Index>(from));
    set.values[i] = values[from];
  }
  return set;
}

Hyperparameters FitTo(const FeatureMap& features,
                      const Eigen::MatrixXd& rows,
                      const Eigen::VectorXd& targets,
                      const std::optional<Hyperparameters>& known,
                      const std::stop_token& stop) {
  return FitHyperparameters(rows,
                            features.group_of_column(),
                            features.groups(),
                            targets,
                            Prior(),
                            known,
                            FitEffort(),
                            stop);
}

// Fits a model of the targets under each warp, and chooses the one whose leave-one-out predictions order the trials best.
absl::Status FitObjective(const FeatureMap& features,
                          const FittingSet& set,
                          GpState& state,
                          const std::stop_token& stop) {
  const Eigen::Map<const Eigen::VectorXd> values(set.values.data(), set.rows.rows());
  double most = -1.0;
  for (std::size_t i = 0; i < kWarps.size(); ++i) {
    const Eigen::VectorXd targets = TargetScale(set.values, kWarps[i]).Targets(set.values);
    state.objective[i] = FitTo(features, set.rows, targets, state.objective[i], stop);
    VERNIER_ASSIGN_OR_RETURN(
        const Posterior posterior,
        Condition(set.rows, targets, *state.objective[i], features.group_of_column()));
    const double skill = OrderingSkill(posterior.LeaveOneOutMeans(targets), values);
    if (skill > most) {
      most = skill;
      state.warp = kWarps[i];
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Posterior> FitSuccess(const FeatureMap& features,
                                     const Eigen::MatrixXd& rows,
                                     const std::vector<Coordinates>& failed,
                                     bool refit,
                                     GpState& state,
                                     const std::stop_token& stop) {
  const auto worked = rows.rows();
  const auto lost = static_cast<Eigen::Index>(failed.size());
  Eigen::MatrixXd all(worked + lost, rows.cols());
  all.topRows(worked) = rows;
  all.bottomRows(lost) = features.Matrix(failed);
  Eigen::VectorXd labels = Eigen::VectorXd::Ones(worked + lost);
  labels.tail(lost).setConstant(-1.0);
  if (refit || !state.success) {
    const FittingSet set = Thinned(all, {labels.begin(), labels.end()});
    const Eigen::Map<const Eigen::VectorXd> targets(set.values.data(), set.rows.rows());
    state.success = FitTo(features, set.rows, targets, state.success, stop);
  }
  return Condition(all, labels, *state.success, features.group_of_column());
}

std::vector<Coordinates> BestPoints(const std::vector<Coordinates>& points,
                                    const Eigen::VectorXd& fitted) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&fitted](std::size_t a, std::size_t b) {
    return fitted[static_cast<Eigen::Index>(a)] > fitted[static_cast<Eigen::Index>(b)];
  });
  order.resize(std::min(order.size(), kCentres));
  std::vector<Coordinates> best;
  best.reserve(order.size());
  for (const std::size_t i : order) best.push_back(points[i]);
  return best;
}

}  // namespace

bool IsRefitDue(std::int64_t fitted_at, std::int64_t now) {
  if (now <= kAlwaysRefit || now < fitted_at) return now != fitted_at;
  return static_cast<double>(now) >= (1.0 + kRefitGrowth) * static_cast<double>(fitted_at);
}

absl::StatusOr<Surrogate> Surrogate::Fit(const FeatureMap& features,
                                         const History& history,
                                         std::size_t max_points,
                                         GpState& state,
                                         const Remembered* known,
                                         const std::stop_token& stop) {
  TrainingSet set = Select(history, max_points);
  const Eigen::MatrixXd rows = features.Matrix(set.points);
  const auto trials = static_cast<std::int64_t>(history.points.size() + history.failed.size());
  const bool refit = IsRefitDue(state.fitted_at, trials) || !state.objective[0];
  // What is chosen anew each time does not grow.
  if (refit || !set.is_whole) state.anchor = rows.rows();
  if (refit) {
    state.fitted_at = trials;
    VERNIER_RETURN_IF_ERROR(FitObjective(features, Thinned(rows, set.values), state, stop));
  }
  TargetScale scale(set.values, state.warp);
  const Eigen::VectorXd targets = scale.Targets(set.values);
  const Hyperparameters& hyperparameters = *state.objective[static_cast<std::size_t>(state.warp)];
  const Eigen::Index anchor = std::clamp<Eigen::Index>(state.anchor, 1, rows.rows());
  VERNIER_ASSIGN_OR_RETURN(
      Posterior objective,
      Grow(rows, targets, hyperparameters, features.group_of_column(), anchor, known));
  std::shared_ptr<const Remembered> remembered;
  if (rows.rows() >= kLeastRemembered && set.is_whole &&
      objective.hyperparameters().Pack() == hyperparameters.Pack()) {
    remembered = std::make_shared<const Remembered>(
        Remembered{.hyperparameters = hyperparameters, .rows = rows, .factor = objective.factor()});
  }

  Surrogate surrogate(std::move(scale), std::move(objective));
  surrogate.remembered_ = std::move(remembered);
  const bool noisy = surrogate.objective_.noise() > kNoiselessShare * surrogate.objective_.signal();
  surrogate.incumbent_ = noisy ? surrogate.objective_.fitted().maxCoeff() : targets.maxCoeff();
  surrogate.centres_ = BestPoints(set.points, surrogate.objective_.fitted());
  surrogate.note_ = std::move(set.note);
  if (!set.failed.empty()) {
    VERNIER_ASSIGN_OR_RETURN(surrogate.success_,
                             FitSuccess(features, rows, set.failed, refit, state, stop));
  }
  const Eigen::MatrixXd pending = features.Matrix(history.pending);
  for (Eigen::Index i = 0; i < pending.rows(); ++i) surrogate.Believe(pending.row(i));
  return surrogate;
}

void Surrogate::Believe(const Eigen::RowVectorXd& features) {
  incumbent_ = std::max(incumbent_, objective_.Means(features)[0]);
  objective_.Believe(features);
}

}  // namespace vernier::gp
