#include "algorithms/early_stopping/curve_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/core/check.h"

// y(u) = end + fall * shape(u) + noise, with shape(start) = 1 and shape(1) = 0. Given a shape, end and fall are normal
// with a prior from the complete curves, so that the posterior of the end has a closed form; shapes are averaged by
// their evidence. Shapes are parametric families, and the complete curves themselves, which know what all curves of the
// study share, such as a drop of the learning rate. Since no shape is exact, deviations are checked on the complete
// curves, cut at the same place, and widened where they were too small.
namespace vernier {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

enum class Family { kPower, kExponential, kLogistic };
struct Parametric {
  Family family;
  double parameter;
  double weight;
};
// Rates from a curve that is over after a few reports to one that falls to its end. A rise in the middle (logistic) has
// little weight until complete curves show it. The weights are a choice; complete curves correct them (LearnWeights).
constexpr std::array<Parametric, 16> kParametric = {{
    {Family::kPower, 0.25, 0.08},
    {Family::kPower, 0.5, 0.08},
    {Family::kPower, 1.0, 0.08},
    {Family::kPower, 1.5, 0.08},
    {Family::kPower, 2.5, 0.08},
    {Family::kExponential, 0.02, 0.067},
    {Family::kExponential, 0.05, 0.067},
    {Family::kExponential, 0.1, 0.067},
    {Family::kExponential, 0.2, 0.067},
    {Family::kExponential, 0.4, 0.067},
    {Family::kExponential, 1.0, 0.067},
    {Family::kLogistic, 0.15, 0.01},
    {Family::kLogistic, 0.3, 0.01},
    {Family::kLogistic, 0.45, 0.01},
    {Family::kLogistic, 0.6, 0.01},
    {Family::kLogistic, 0.75, 0.01},
}};
// Width of a logistic rise, as a share of the curve. A choice.
constexpr double kRise = 0.07;

// Weight of a complete curve's shape among n of them: kEmpirical / (n + kParametricCount). A choice: with few complete
// curves the families count more.
constexpr double kParametricCount = 4.0;
// Counts of the prior weights beside the complete curves, in LearnWeights. A choice.
constexpr double kPriorCurves = 3.0;
// Share of the fall by which a shape misses its curves, and least size of the fall in units of the scale. Choices: of
// the values between 0.01 and 0.1, the deviations came nearest to the errors on parametric families.
constexpr double kDiscrepancy = 0.03;
constexpr double kLeastFall = 0.05;
// Values further from the median end than this, in the model's units, are cut: a loss that exploded is bad, however
// large it is. A choice.
constexpr double kReach = 20.0;
// Least size of the differences, relative to the ends: below it they are rounding. And the least unit: squares and
// ratios of such values stay finite. Choices.
constexpr double kLeastSpread = 1e-9;
constexpr double kSmallestUnit = 1e-300;
// Share of the points before it that one average of SummaryOf takes. A choice: about 20 averages for 100 points.
constexpr double kAveraged = 0.12;
// Curves on which deviations are checked, at most; squared errors beside them that count as expected; and the largest
// squared error that counts. Choices: the first bounds the time of a prediction.
constexpr std::size_t kChecked = 16;
constexpr double kCheckPrior = 2.0;
constexpr double kWorstCheck = 16.0;

double Raw(const Parametric& shape, double u) {
  switch (shape.family) {
    case Family::kPower:
      return std::pow(u, -shape.parameter);
    case Family::kExponential:
      return std::exp(-u / shape.parameter);
    default:
      return 1.0 / (1.0 + std::exp((u - shape.parameter) / kRise));
  }
}

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] / 2 + values[middle] / 2;  // The sum might overflow.
}

double MeanSquareAround(const std::vector<double>& values, double centre) {
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size());
}

// Linear between the places; constant beyond them.
double ValueAt(const std::vector<double>& places, const std::vector<double>& values, double u) {
  const auto above = std::ranges::upper_bound(places, u) - places.begin();
  if (above == 0) return values.front();
  if (above == std::ssize(places)) return values.back();
  const auto i = static_cast<std::size_t>(above);
  const double part = (u - places[i - 1]) / (places[i] - places[i - 1]);
  return values[i - 1] + part * (values[i] - values[i - 1]);
}

bool IsUsable(const Curve& curve) {
  return !curve.points.empty() && std::isfinite(curve.points.back().value);
}

}  // namespace

CurveModel::CurveModel(std::span<const Curve* const> complete) {
  std::vector<const Curve*> curves;
  for (auto at = complete.rbegin(); at != complete.rend() && curves.size() < kMostCurves; ++at) {
    if (IsUsable(**at)) curves.push_back(*at);
  }
  VERNIER_CHECK(!curves.empty(), "a model of curves needs one that is complete");
  std::vector<double> firsts;
  std::vector<double> lasts;
  std::vector<double> reports;
  std::vector<double> ends;
  std::vector<double> falls;
  for (const Curve* curve : curves) {
    firsts.push_back(static_cast<double>(curve->points.front().step));
    lasts.push_back(static_cast<double>(curve->points.back().step));
    reports.push_back(static_cast<double>(curve->points.size()));
    ends.push_back(curve->points.back().value);
    const double first = curve->points.front().value;
    if (std::isfinite(first)) falls.push_back(std::abs(first - ends.back()));
  }
  first_step_ = MedianOf(firsts);
  const double span = std::max(1.0, MedianOf(lasts) - first_step_);
  spacing_ = std::max(span / std::max(1.0, MedianOf(reports) - 1), 1e-9 * span);
  length_ = span + spacing_;
  start_ = spacing_ / length_;
  centre_ = MedianOf(ends);
  // Medians, which no exploded loss moves.
  std::vector<double> distances;
  distances.reserve(ends.size());
  for (const double end : ends) distances.push_back(std::abs(end - centre_));
  const double typical = std::max(MedianOf(distances), falls.empty() ? 0.0 : MedianOf(falls));
  unit_ = std::clamp(
      std::max(typical, std::abs(centre_) * kLeastSpread), kSmallestUnit, 1 / kSmallestUnit);
  for (const Curve* curve : curves) traces_.push_back(TraceOf(curve->points));
  LearnScales();
  AddEmpiricalShapes();
  LearnWeights();
}

CurveModel::Trace CurveModel::TraceOf(std::span<const CurvePoint> points) const {
  Trace trace;
  for (const CurvePoint& point : points) {
    if (!std::isfinite(point.value)) continue;
    const double place = (static_cast<double>(point.step) - first_step_ + spacing_) / length_;
    trace.places.push_back(std::clamp(place, start_, 1.0));
    trace.values.push_back(std::clamp((point.value - centre_) / unit_, -kReach, kReach));
  }
  return trace;
}

void CurveModel::LearnScales() {
  std::vector<double> ends;
  std::vector<double> falls;
  std::vector<double> jumps;
  for (const Trace& trace : traces_) {
    ends.push_back(trace.values.back());
    falls.push_back(trace.values.front() - trace.values.back());
    std::vector<double> seconds;
    for (std::size_t i = 2; i < trace.values.size(); ++i) {
      seconds.push_back(std::abs(trace.values[i] - 2 * trace.values[i - 1] + trace.values[i - 2]));
    }
    // The median second difference of white noise of deviation 1 is 0.6745 sqrt(6).
    if (!seconds.empty()) jumps.push_back(MedianOf(seconds) / (0.6745 * std::sqrt(6.0)));
  }
  const auto count = static_cast<double>(ends.size());
  const double spread = std::sqrt(MeanSquareAround(ends, 0));
  scale_ = std::max(std::sqrt(spread * spread + MeanSquareAround(falls, 0)), kLeastSpread);
  // Wider than what was seen, since running trials may be unlike complete ones, the more so the fewer there are.
  end_deviation_ = std::max(1.5 * spread, 0.3 * scale_) * (1 + 2 / count);
  fall_ = MedianOf(falls);
  fall_deviation_ = std::max(
      {1.5 * std::sqrt(MeanSquareAround(falls, fall_)), 0.5 * std::abs(fall_), 0.2 * scale_});
  noise_ = std::max(jumps.empty() ? 0.0 : MedianOf(jumps), 1e-4 * scale_);
  discrepancy_ = kDiscrepancy * std::max(std::abs(fall_), kLeastFall * scale_);
}

void CurveModel::AddEmpiricalShapes() {
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const Trace& trace = traces_[i];
    const std::size_t count = trace.values.size();
    if (count < 4) continue;
    Trace smooth{.places = trace.places, .values = trace.values};
    for (std::size_t j = 1; j < count; ++j) {
      const std::size_t last = std::min(j + 1, count - 1);
      double sum = 0;
      for (std::size_t k = j - 1; k <= last; ++k) sum += trace.values[k];
      smooth.values[j] = sum / static_cast<double>(last - j + 2);
    }
    const double end = smooth.values.back();
    const double fall = smooth.values.front() - end;
    // A curve that hardly moves has no shape but noise.
    if (std::abs(fall) < 5 * noise_ + 0.02 * scale_) continue;
    for (double& value : smooth.values) value = (value - end) / fall;
    empirical_.push_back({.from = i, .trace = std::move(smooth)});
  }
}

CurveModel::Summary CurveModel::SummaryOf(const Trace& trace) const {
  Summary summary;
  std::size_t end = trace.values.size();
  while (end > 0) {
    const auto size =
        std::max<std::size_t>(1, static_cast<std::size_t>(kAveraged * static_cast<double>(end)));
    const std::size_t begin = end - std::min(size, end);
    double place = 0;
    double value = 0;
    for (std::size_t i = begin; i < end; ++i) {
      place += trace.places[i];
      value += trace.values[i];
    }
    const auto count = static_cast<double>(end - begin);
    summary.places.push_back(place / count);
    summary.values.push_back(value / count);
    summary.precisions.push_back(1 / (noise_ * noise_ / count + discrepancy_ * discrepancy_));
    end = begin;
  }
  return summary;
}

// Bayesian linear regression on (1, shape) with a diagonal prior (Bishop, 2006, section 3.3).
CurveModel::Fit CurveModel::FitShape(const Summary& summary, std::span<const double> shape) const {
  const double end_precision = 1 / (end_deviation_ * end_deviation_);
  const double fall_precision = 1 / (fall_deviation_ * fall_deviation_);
  // The prior mean of the end, the median, is 0 in the model's units.
  double a11 = end_precision;
  double a12 = 0;
  double a22 = fall_precision;
  double r1 = 0;
  double r2 = fall_precision * fall_;
  double square = fall_precision * fall_ * fall_;
  double log_precisions = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const double precision = summary.precisions[i];
    const double value = summary.values[i];
    a11 += precision;
    a12 += precision * shape[i];
    a22 += precision * shape[i] * shape[i];
    r1 += precision * value;
    r2 += precision * value * shape[i];
    square += precision * value * value;
    log_precisions += std::log(precision);
  }
  const double determinant = std::max(a11 * a22 - a12 * a12, 1e-12 * a11 * a22);
  const double mean = (a22 * r1 - a12 * r2) / determinant;
  const double fall = (a11 * r2 - a12 * r1) / determinant;
  return {
      .evidence = 0.5 * (log_precisions - std::log(determinant) + r1 * mean + r2 * fall - square),
      .mean = mean,
      .variance = a22 / determinant};
}

std::vector<double> CurveModel::ParametricShape(std::size_t which, const Summary& summary) const {
  const Parametric& shape = kParametric[which];
  const double last = Raw(shape, 1);
  const double range = Raw(shape, start_) - last;
  std::vector<double> values;
  values.reserve(summary.places.size());
  for (const double place : summary.places) values.push_back((Raw(shape, place) - last) / range);
  return values;
}

// Weights of the families by how well they describe the complete curves: expectation-maximisation of a mixture, from
// the prior weights, which count as kPriorCurves curves.
void CurveModel::LearnWeights() {
  for (const Parametric& shape : kParametric) weights_.push_back(shape.weight);
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& weight : weights_) weight /= total;
  const std::vector<double> prior = weights_;
  std::vector<std::vector<double>> evidence;
  for (const Trace& trace : traces_) {
    const Summary summary = SummaryOf(trace);
    std::vector<double>& of_trace = evidence.emplace_back();
    for (std::size_t k = 0; k < kParametric.size(); ++k) {
      of_trace.push_back(FitShape(summary, ParametricShape(k, summary)).evidence);
    }
  }
  for (int round = 0; round < 3; ++round) {
    std::vector<double> counts(weights_.size(), 0.0);
    for (const std::vector<double>& of_trace : evidence) {
      const double most = *std::ranges::max_element(of_trace);
      std::vector<double> shares(weights_.size());
      double sum = 0;
      for (std::size_t k = 0; k < shares.size(); ++k) {
        shares[k] = weights_[k] * std::exp(of_trace[k] - most);
        sum += shares[k];
      }
      for (std::size_t k = 0; k < shares.size(); ++k) counts[k] += shares[k] / sum;
    }
    const double all = kPriorCurves + static_cast<double>(evidence.size());
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      weights_[k] = (kPriorCurves * prior[k] + counts[k]) / all;
    }
  }
}

PredictedEnd CurveModel::PredictTrace(const Trace& trace, std::size_t without) const {
  const Summary summary = SummaryOf(trace);
  std::vector<Fit> fits;
  std::vector<double> weights;
  for (std::size_t k = 0; k < kParametric.size(); ++k) {
    fits.push_back(FitShape(summary, ParametricShape(k, summary)));
    weights.push_back(weights_[k]);
  }
  const double of_each = 1 / (static_cast<double>(empirical_.size()) + kParametricCount);
  std::vector<double> shape(summary.places.size());
  for (const EmpiricalShape& known : empirical_) {
    if (known.from == without) continue;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      shape[i] = ValueAt(known.trace.places, known.trace.values, summary.places[i]);
    }
    fits.push_back(FitShape(summary, shape));
    weights.push_back(of_each);
  }
  double most = -std::numeric_limits<double>::infinity();
  for (const Fit& fit : fits) most = std::max(most, fit.evidence);
  double sum = 0;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    weights[k] *= std::exp(fits[k].evidence - most);
    sum += weights[k];
  }
  const double left = 1 - trace.places.back();
  const double own = noise_ * noise_ + discrepancy_ * discrepancy_ * left;
  PredictedEnd predicted;
  double second = 0;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    const double weight = weights[k] / sum;
    const double variance = fits[k].variance + own;
    predicted.components.push_back(
        {.weight = weight, .mean = fits[k].mean, .deviation = std::sqrt(variance)});
    predicted.mean += weight * fits[k].mean;
    second += weight * (variance + fits[k].mean * fits[k].mean);
  }
  predicted.deviation = std::sqrt(std::max(second - predicted.mean * predicted.mean, own));
  return predicted;
}

double CurveModel::Misfit(double place) const {
  double squares = kCheckPrior;
  double count = kCheckPrior;
  for (std::size_t i = 0; i < traces_.size() && i < kChecked; ++i) {
    const Trace& whole = traces_[i];
    const auto cut = std::ranges::upper_bound(whole.places, place) - whole.places.begin();
    if (cut == 0) continue;
    const auto size = static_cast<std::ptrdiff_t>(cut);
    const Trace part{.places = {whole.places.begin(), whole.places.begin() + size},
                     .values = {whole.values.begin(), whole.values.begin() + size}};
    const PredictedEnd predicted = PredictTrace(part, i);
    const double error = (whole.values.back() - predicted.mean) / predicted.deviation;
    squares += std::min(error * error, kWorstCheck);
    ++count;
  }
  return std::max(1.0, std::sqrt(squares / count));
}

PredictedEnd CurveModel::Predict(std::span<const CurvePoint> points) const {
  const Trace trace = TraceOf(points);
  VERNIER_CHECK(!trace.values.empty(), "a curve to extrapolate has a finite value");
  PredictedEnd predicted = PredictTrace(trace, kNone);
  // Back to the user's units.
  const double misfit = Misfit(trace.places.back());
  predicted.mean = centre_ + predicted.mean * unit_;
  predicted.deviation *= misfit * unit_;
  for (PredictedEnd::Component& component : predicted.components) {
    component.mean = centre_ + component.mean * unit_;
    component.deviation *= misfit * unit_;
  }
  return predicted;
}

}  // namespace vernier
