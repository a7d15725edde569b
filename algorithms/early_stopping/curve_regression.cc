#include "algorithms/early_stopping/curve_regression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "Eigen/Cholesky"
#include "Eigen/Core"
#include "algorithms/early_stopping/curve_statistics.h"

// A curve is followed to its end in stages, each of which doubles the reports so far. What it changes in a stage is
// regressed on the parameters and on what is seen before the stage. Conditional on that, it does not matter which trials a
// rule stopped before the stage, nor how they would have gone on: curves that were stopped later count as much as complete
// ones, and a rule that looks at levels does not bias what it learns from.
namespace vernier {
namespace {

// Largest number of curves that a stage is learnt from, the nearest by their parameters. A choice: bounds the time.
constexpr std::size_t kMostCurves = 40;
// Fewest.
constexpr std::size_t kFewestCurves = 2;
// Share of the reports so far that a level averages. On parametric families 0.12 left the noise of single reports in the
// predictions, so that trials were stopped by bad luck; 0.5 lags behind.
constexpr double kLevelShare = 0.3;
// Distance of a value from the median with its neighbours from which it is an outlier, in units of the usual one, and the
// number of values that are looked at at least. Choices: about three deviations of normal values.
constexpr double kOutlier = 6.0;
constexpr std::size_t kFewestForOutliers = 5;
// Share of a curve beyond which a stage ends with it: what is left would be a stage of little change. A choice.
constexpr double kLastStage = 0.75;
// Values further than this from their median are cut, in units of their usual distance from it: a loss that exploded is
// poor, however large. A choice.
constexpr double kCutDistance = 8.0;
// How far neighbours reach, what counts for how much and how noisy changes are, few curves cannot tell: predictions under
// each answer are averaged by their evidence. Length scales by the parameters are in units of sqrt(coordinates / 5), about
// the distance of random points; that by the features is in units of their usual distance. Shares of the variance: by
// the parameters, linear in the features, smooth in the features. Choices: coarse, for the time.
constexpr std::array<double, 3> kLengthScales = {0.25, 0.6, 1.5};
constexpr double kFeatureScale = 2.0;
struct Shares {
  double parameters;
  double linear;
  double smooth;
};
constexpr std::array<Shares, 3> kShares = {{{0.8, 0.2, 0.0}, {0.3, 0.7, 0.0}, {0.4, 0.2, 0.4}}};
constexpr std::array<double, 2> kNoises = {0.003, 0.1};
constexpr double kConstant = 0.3;  // Variance of the mean.
constexpr double kJitter = 1e-6;
constexpr double kLeastDeviation = 1e-150;  // Of an end: its square is a number.
// Inverse gamma prior of the variance, which is in units of the usual size. A choice: worth four curves.
constexpr double kPriorShape = 2.0;
constexpr double kPriorScale = 1.0;

// What is seen of a curve before a stage.
struct Features {
  double level = 0;
  double fall = 0;  // Since half of the step.
};

// The larger of the two in the middle, of an even number.  REQUIRES: values is not empty.
double UpperMedianOf(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

double MedianOfThree(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Replaces outliers among values in the order of a curve by the median with their two neighbours; that of the first is
// J. Tukey's end rule (Exploratory data analysis, 1977, chapter 7). A value that lies further from that median than
// values usually do is an outlier: a steady fall has none, however steep.
void ReplaceOutliers(std::vector<double>& values) {
  if (values.size() < 3) return;
  std::vector<double> medians = values;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    medians[i] = MedianOfThree(values[i - 1], values[i], values[i + 1]);
  }
  medians[0] = MedianOfThree(values[0], medians[1], 3 * medians[1] - 2 * medians[2]);
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(values[i] - medians[i]));
  }
  // Mostly there is none, which is seen without sorting: half of the distances are a good part of the largest.
  std::size_t small = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kOutlier * std::abs(values[i] - medians[i]) < largest) ++small;
  }
  if (small <= values.size() / 2) return;
  std::vector<double> distances(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) distances[i] = std::abs(values[i] - medians[i]);
  const double usual = UpperMedianOf(std::move(distances));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - medians[i]) > kOutlier * usual) values[i] = medians[i];
  }
}

// Average of the finite values in (step - width, step], or the last one before; NaN: there is none. Outliers are replaced.
double LevelAt(std::span<const CurvePoint> points, double first, double step) {
  const double width = kLevelShare * (step - first + 1);
  const auto after = std::ranges::upper_bound(
      points, step, {}, [](const CurvePoint& point) { return static_cast<double>(point.step); });
  std::vector<double> values;  // The last ones, latest first.
  std::size_t averaged = 0;
  for (auto at = std::make_reverse_iterator(after); at != points.rend(); ++at) {
    if (!std::isfinite(at->value)) continue;
    const bool is_averaged = values.empty() || static_cast<double>(at->step) > step - width;
    if (!is_averaged && values.size() >= kFewestForOutliers) break;
    values.push_back(at->value);
    if (is_averaged) ++averaged;
  }
  if (values.empty()) return std::nan("");
  ReplaceOutliers(values);
  double mean = 0;
  for (std::size_t i = 0; i < averaged; ++i) {
    mean += (values[i] - mean) / static_cast<double>(i + 1);  // A running mean does not overflow.
  }
  return mean;
}

std::optional<Features> FeaturesAt(std::span<const CurvePoint> points, double step) {
  if (points.empty()) return std::nullopt;
  const auto first = static_cast<double>(points.front().step);
  const double level = LevelAt(points, first, step);
  if (std::isnan(level)) return std::nullopt;
  const double early = LevelAt(points, first, std::max(first, std::floor((first + step) / 2)));
  return Features{.level = level, .fall = std::isnan(early) ? 0.0 : early - level};
}

double SquaredDistance(const Curve& a, const Curve& b) {
  // Curves of rules' callers may have no coordinates.
  if (a.coordinates.size() != b.coordinates.size()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < a.coordinates.size(); ++i) {
    sum += (a.coordinates[i] - b.coordinates[i]) * (a.coordinates[i] - b.coordinates[i]);
  }
  return sum;
}

// Values about their median, in units of their usual distance from it.
class Standardised {
 public:
  explicit Standardised(const std::vector<double>& values)
      : centre_(UpperMedianOf(values)), unit_(UnitOf(values, centre_)), values_(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values_[static_cast<Eigen::Index>(i)] = Of(values[i]);
    }
  }
  double Of(double value) const {
    return std::clamp((value - centre_) / unit_, -kCutDistance, kCutDistance);
  }
  double centre() const { return centre_; }
  double unit() const { return unit_; }
  const Eigen::VectorXd& values() const { return values_; }

 private:
  // Their root mean square, those cut that are far beyond most: a few exploded values do not count more.
  static double UnitOf(const std::vector<double>& values, double centre) {
    std::vector<double> distances;
    distances.reserve(values.size());
    for (const double value : values) distances.push_back(std::abs(value - centre));
    std::ranges::sort(distances);
    const double usual = distances[distances.size() * 3 / 4];
    const double most = usual > 0 ? kCutDistance * usual : distances.back();
    double squares = 0;
    for (const double distance : distances) {
      const double relative = most > 0 ? std::min(distance, most) / most : 0.0;
      squares += relative * relative;
    }
    const double unit = most * std::sqrt(squares / static_cast<double>(distances.size()));
    return std::clamp(unit, std::max(1e-300, 1e-9 * std::abs(centre)), 1e300);
  }

  double centre_;
  double unit_;
  Eigen::VectorXd values_;
};

// Matérn 5/2 of distances in length scales.
Eigen::ArrayXXd Matern(const Eigen::ArrayXXd& distances, double length_scale) {
  const Eigen::ArrayXXd r = std::sqrt(5.0) / length_scale * distances;
  return (1 + r + r.square() / 3) * (-r).exp();
}

// What curves showed before a stage, and how much they changed in it.
struct Stage {
  std::vector<const Curve*> curves;
  std::vector<double> levels;
  std::vector<double> falls;
  std::vector<double> changes;
};

// The stage from step `from` to step `to`, or to the end. Curves that have not come so far are left out.
Stage StageOf(std::span<const Curve> others, double from, std::optional<double> to) {
  Stage stage;
  for (const Curve& curve : others) {
    if (curve.points.empty()) continue;
    const bool is_complete = curve.finished && !curve.stopped_early;
    const bool has_come = to.has_value() && static_cast<double>(curve.points.back().step) >= *to;
    if (!is_complete && !has_come) continue;
    const std::optional<Features> before = FeaturesAt(curve.points, from);
    if (!before.has_value()) continue;
    const auto first = static_cast<double>(curve.points.front().step);
    const double after =
        to.has_value() ? LevelAt(curve.points, first, *to) : curve.points.back().value;
    if (!std::isfinite(after - before->level)) continue;
    stage.curves.push_back(&curve);
    stage.levels.push_back(before->level);
    stage.falls.push_back(before->fall);
    stage.changes.push_back(after - before->level);
  }
  return stage;
}

// Indices of the stage's curves that are nearest to the running trial; of equally near ones the later.
std::vector<std::size_t> NearestTo(const Curve& running, const Stage& stage) {
  std::vector<std::pair<double, std::size_t>> order;
  const std::size_t count = stage.curves.size();
  order.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    order.emplace_back(SquaredDistance(running, *stage.curves[i]), count - i);
  }
  const std::size_t most = std::min(count, kMostCurves);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(most));
  std::vector<std::size_t> nearest;
  for (std::size_t i = 0; i < most; ++i) nearest.push_back(count - order[i].second);
  return nearest;
}

// Gaussian process of standardised values, the size of which is integrated out, so that a prediction is Student's t; it
// stands for a normal distribution of equal variance (Rasmussen and Williams, 2006, section 2.2 and algorithm 2.1).
class Process {
 public:
  // Nullopt: the covariance cannot be factorised.
  static std::optional<Process> Of(Eigen::MatrixXd covariance,
                                   double noise,
                                   const Eigen::VectorXd& values) {
    covariance.diagonal().array() += noise + kJitter;
    Process process;
    process.factor_.compute(covariance);
    if (process.factor_.info() != Eigen::Success) return std::nullopt;
    process.noise_ = noise;
    process.whitened_ = process.factor_.matrixL().solve(values);
    process.shape_ = kPriorShape + static_cast<double>(values.size()) / 2;
    process.scale_ = kPriorScale + process.whitened_.squaredNorm() / 2;
    return process;
  }

  // Logarithm, up to a constant.
  double evidence() const {
    return -factor_.matrixLLT().diagonal().array().log().sum() - shape_ * std::log(scale_);
  }
  // `covariance`: between the data and the points to predict; `prior`: variances of the points.
  void Predict(const Eigen::MatrixXd& covariance,
               const Eigen::VectorXd& prior,
               Eigen::VectorXd& means,
               Eigen::VectorXd& variances) const {
    const Eigen::MatrixXd points = factor_.matrixL().solve(covariance);
    means = points.transpose() * whitened_;
    const Eigen::VectorXd rest = prior - points.colwise().squaredNorm().transpose();
    variances = (scale_ / (shape_ - 1)) * (rest.array().max(kJitter) + noise_);
  }
  // By how much each value misses its prediction from the others (eq. 5.12 there).
  Eigen::VectorXd LeaveOneOutErrors() const {
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(whitened_.size(), whitened_.size());
    factor_.matrixL().solveInPlace(inverse);
    const Eigen::VectorXd alpha = inverse.transpose() * whitened_;
    return alpha.array() / inverse.colwise().squaredNorm().transpose().array();
  }

 private:
  Process() = default;

  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd whitened_;
  double noise_ = 0;
  double shape_ = 0;
  double scale_ = 0;
};

// Weights of answers by their evidence.  REQUIRES: there is one.
Eigen::VectorXd WeightsOf(const std::vector<double>& evidence) {
  const Eigen::Map<const Eigen::ArrayXd> logs(evidence.data(), std::ssize(evidence));
  const Eigen::ArrayXd weights = (logs - logs.maxCoeff()).exp();
  return weights / weights.sum();
}

using ByLengthScale = std::array<Eigen::ArrayXXd, kLengthScales.size()>;

// By how much levels miss what their neighbours' levels tell: mostly noise, which will not be there at the end. Of the
// curves, the first `count`, each from the others; then of the running trial with each of the last levels.
// `by_parameters`: correlations of all of these under each length scale.
Eigen::VectorXd Residuals(const ByLengthScale& by_parameters,
                          const Eigen::VectorXd& levels,
                          Eigen::Index count) {
  const Eigen::Index at = levels.size() - count;
  std::vector<double> evidence;
  std::vector<Eigen::VectorXd> residuals;
  for (const Eigen::ArrayXXd& parameters : by_parameters) {
    const Eigen::MatrixXd covariance = parameters + kConstant;
    for (const double noise : kNoises) {
      const std::optional<Process> process =
          Process::Of(covariance.topLeftCorner(count, count), noise, levels.head(count));
      if (!process.has_value()) continue;
      Eigen::VectorXd means;
      Eigen::VectorXd variances;
      process->Predict(
          covariance.topRightCorner(count, at), covariance.diagonal().tail(at), means, variances);
      evidence.push_back(process->evidence());
      residuals.emplace_back(levels.size()) << process->LeaveOneOutErrors(),
          levels.tail(at) - means;
    }
  }
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(levels.size());
  if (evidence.empty()) return mean;
  const Eigen::VectorXd weights = WeightsOf(evidence);
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    mean += weights[i] * residuals[static_cast<std::size_t>(i)];
  }
  return mean;
}

// Distances between the rows.
Eigen::ArrayXXd DistancesOf(const Eigen::MatrixXd& rows) {
  Eigen::ArrayXXd distances = Eigen::ArrayXXd::Zero(rows.rows(), rows.rows());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      distances(i, j) = distances(j, i) = (rows.row(i) - rows.row(j)).norm();
    }
  }
  return distances;
}

// Coordinates of the stage's curves at `near`, then `at` times those of the running trial, in units of the usual distance.
Eigen::MatrixXd PlacesOf(const Stage& stage,
                         std::span<const std::size_t> near,
                         const Curve& running,
                         Eigen::Index at) {
  const auto count = std::ssize(near);
  const auto size = std::ssize(running.coordinates);
  Eigen::MatrixXd places = Eigen::MatrixXd::Zero(count + at, std::max<Eigen::Index>(1, size));
  for (Eigen::Index i = 0; i < count + at; ++i) {
    const Curve& curve = i < count ? *stage.curves[near[static_cast<std::size_t>(i)]] : running;
    if (std::ssize(curve.coordinates) != size) continue;
    for (Eigen::Index j = 0; j < size; ++j) {
      places(i, j) = curve.coordinates[static_cast<std::size_t>(j)];
    }
  }
  return places / std::sqrt(static_cast<double>(places.cols()) / 5);
}

struct Normal {
  double mean = 0;
  double deviation = 0;
};

// Changes of the running trial in a stage before which it has each of `seen`.
std::vector<Normal> ChangesIn(const Stage& stage,
                              const Curve& running,
                              std::span<const Features> seen) {
  const Standardised levels(stage.levels);
  const Standardised falls(stage.falls);
  const Standardised changes(stage.changes);
  const std::vector<std::size_t> near = NearestTo(running, stage);
  const auto count = std::ssize(near);
  const auto at = std::ssize(seen);
  Eigen::MatrixXd features(count + at, 3);
  Eigen::VectorXd targets(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto from = static_cast<Eigen::Index>(near[static_cast<std::size_t>(i)]);
    features.row(i).head(2) << levels.values()[from], falls.values()[from];
    targets[i] = changes.values()[from];
  }
  for (Eigen::Index i = 0; i < at; ++i) {
    const Features& each = seen[static_cast<std::size_t>(i)];
    features.row(count + i).head(2) << levels.Of(each.level), falls.Of(each.fall);
  }
  const Eigen::ArrayXXd distances = DistancesOf(PlacesOf(stage, near, running, at));
  ByLengthScale by_parameters;
  for (std::size_t k = 0; k < kLengthScales.size(); ++k) {
    by_parameters[k] = Matern(distances, kLengthScales[k]);
  }
  Eigen::VectorXd residuals = Residuals(by_parameters, features.col(0), count);
  const double usual = std::sqrt(residuals.head(count).squaredNorm() / static_cast<double>(count));
  residuals /= std::max(usual, kJitter);
  features.col(2) = residuals.cwiseMax(-kCutDistance).cwiseMin(kCutDistance);
  const Eigen::ArrayXXd linear = (features * features.transpose()).array() / 3;
  const Eigen::ArrayXXd smooth = Matern(DistancesOf(features), kFeatureScale);

  std::vector<double> evidence;
  std::vector<Eigen::VectorXd> means;
  std::vector<Eigen::VectorXd> variances;
  for (const Eigen::ArrayXXd& parameters : by_parameters) {
    for (const Shares& shares : kShares) {
      const Eigen::MatrixXd covariance = shares.parameters * parameters + shares.linear * linear +
                                         shares.smooth * smooth + kConstant;
      for (const double noise : kNoises) {
        const std::optional<Process> process =
            Process::Of(covariance.topLeftCorner(count, count), noise, targets);
        if (!process.has_value()) continue;
        evidence.push_back(process->evidence());
        process->Predict(covariance.topRightCorner(count, at),
                         covariance.diagonal().tail(at),
                         means.emplace_back(),
                         variances.emplace_back());
      }
    }
  }
  if (evidence.empty()) return {};
  const Eigen::VectorXd weights = WeightsOf(evidence);
  std::vector<Normal> predicted;
  for (Eigen::Index i = 0; i < at; ++i) {
    double mean = 0;
    double square = 0;
    for (std::size_t k = 0; k < means.size(); ++k) {
      const double weight = weights[static_cast<Eigen::Index>(k)];
      mean += weight * means[k][i];
      square += weight * (variances[k][i] + means[k][i] * means[k][i]);
    }
    const double variance = std::max(square - mean * mean, kJitter);
    predicted.push_back({.mean = changes.centre() + changes.unit() * mean,
                         .deviation = changes.unit() * std::sqrt(variance)});
  }
  return predicted;
}

// Last step of complete curves, their median.
double UsualLast(std::span<const Curve* const> complete) {
  std::vector<double> lasts;
  lasts.reserve(complete.size());
  for (const Curve* curve : complete) {
    lasts.push_back(static_cast<double>(curve->points.back().step));
  }
  return UpperMedianOf(std::move(lasts));
}

}  // namespace

std::optional<PredictedEnd> PredictEnd(const Curve& running,
                                       std::span<const CurvePoint> judged,
                                       std::span<const Curve> others) {
  const std::vector<const Curve*> complete = CompleteCurves(others);
  if (complete.empty()) return std::nullopt;
  const auto first = static_cast<double>(judged.front().step);
  auto step = static_cast<double>(judged.back().step);
  const std::optional<Features> seen = FeaturesAt(judged, step);
  if (!seen.has_value()) return std::nullopt;
  const double length = UsualLast(complete) - first + 1;
  Normal level{.mean = seen->level, .deviation = 0};
  double before = seen->level + seen->fall;
  for (bool is_last = false; !is_last;) {
    const double doubled = first - 1 + 2 * (step - first + 1);
    is_last = doubled - first + 1 > kLastStage * length;
    const Stage stage =
        StageOf(others, step, is_last ? std::nullopt : std::optional<double>(doubled));
    if (stage.curves.size() < kFewestCurves) return std::nullopt;
    // The level before a later stage is a prediction: two points of equal weight have its mean and deviation.
    std::vector<Features> points;
    for (const double side : {-1.0, 1.0}) {
      const double value = level.mean + side * level.deviation;
      points.push_back({.level = value, .fall = before - value});
      if (level.deviation == 0) break;
    }
    const std::vector<Normal> changes = ChangesIn(stage, running, points);
    if (changes.empty()) return std::nullopt;
    double mean = 0;
    double square = 0;
    const auto count = static_cast<double>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double change = points[i].level + changes[i].mean - level.mean;
      mean += change / count;
      square += (change * change + changes[i].deviation * changes[i].deviation) / count;
    }
    before = level.mean;
    level = {.mean = level.mean + mean,
             .deviation = std::sqrt(std::max(square - mean * mean, kJitter * square))};
    if (!std::isfinite(level.mean) || !std::isfinite(level.deviation)) return std::nullopt;
    step = doubled;
  }
  // Where all curves are the same, so is what remains of this one.
  const double deviation = std::max(level.deviation, kLeastDeviation);
  return PredictedEnd{.components = {{.weight = 1, .mean = level.mean, .deviation = deviation}},
                      .mean = level.mean,
                      .deviation = deviation};
}

}  // namespace vernier
