#include "algorithms/early_stopping/curve_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace vernier {

std::optional<double> BestValue(std::span<const CurvePoint> points, Goal goal) {
  std::optional<double> best;
  for (const CurvePoint& point : points) {
    if (std::isnan(point.value)) continue;
    if (!best || IsBetter(goal, point.value, *best)) best = point.value;
  }
  return best;
}

std::optional<double> RunningAverage(const Curve& curve, std::int64_t step) {
  double count = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const CurvePoint& point : curve.points) {
    if (point.step > step || std::isnan(point.value)) continue;
    ++count;
    least = std::min(least, point.value);
    most = std::max(most, point.value);
  }
  double mean = 0;
  for (const CurvePoint& point : curve.points) {
    // Divided before adding, so that large values do not overflow.
    if (point.step <= step && !std::isnan(point.value)) mean += point.value / count;
  }
  if (count == 0 || std::isnan(mean)) return std::nullopt;
  // Equal values have themselves as their average, whatever the rounding.
  return std::clamp(mean, least, most);
}

std::vector<double> RunningAverages(std::span<const Curve> curves, std::int64_t step) {
  std::vector<double> averages;
  for (const Curve& curve : curves) {
    if (!curve.finished) continue;
    if (const auto average = RunningAverage(curve, step)) averages.push_back(*average);
  }
  return averages;
}

double Quantile(std::vector<double> values, Goal goal, double share) {
  std::ranges::sort(values, [goal](double a, double b) { return IsBetter(goal, a, b); });
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double part = place - std::floor(place);
  if (part == 0 || values[below] == values[below + 1]) return values[below];
  const double between = values[below] * (1 - part) + values[below + 1] * part;
  // Between infinities of both signs lies nothing: the worse.
  return std::isnan(between) ? values[below + 1] : between;
}

std::span<const CurvePoint> JudgedPart(const Curve& running,
                                       std::int64_t first,
                                       std::int64_t interval,
                                       double growth) {
  const std::int64_t reports = std::ssize(running.points);
  if (reports < first) return {};
  std::int64_t due = first;
  if (growth > 1) {
    while (true) {
      const double grown = std::ceil(growth * static_cast<double>(due));
      const std::int64_t next = std::max(due + interval, static_cast<std::int64_t>(grown));
      if (next > reports) break;
      due = next;
    }
  } else {
    due = reports - (reports - first) % interval;
  }
  return std::span(running.points).first(static_cast<std::size_t>(due));
}

std::int64_t FirstJudged(std::int64_t min_steps, double warm_up, std::int64_t usual) {
  const double share = std::ceil(warm_up * static_cast<double>(usual));
  return std::max(min_steps, static_cast<std::int64_t>(share));
}

Verdict TooFewReports(const Curve& running, std::int64_t first) {
  return {.explanation = fmt::format(
              "{} values reported, the trial is judged from {} on", running.points.size(), first)};
}

Verdict TooFewTrials(std::int64_t step, std::size_t curves, std::int64_t needed) {
  return {
      .numbers = {{"step", static_cast<double>(step)}, {"curves", static_cast<double>(curves)}},
      .explanation = fmt::format("{} finished trials have a value up to step {}, the rule needs {}",
                                 curves,
                                 step,
                                 needed)};
}

std::optional<double> ReportNoise(std::span<const Curve* const> complete) {
  // By order: a second difference of independent errors has 6 times their variance, the next 20, 70 and 252 times: sums of
  // squared binomial coefficients. Higher ones would need longer curves.
  constexpr std::array<double, 4> kVariances = {6, 20, 70, 252};
  std::array<std::vector<double>, kVariances.size()> sizes;
  // More curves cost time and hardly change a median. A choice.
  constexpr std::size_t kMostCurves = 200;
  const std::size_t every = (complete.size() + kMostCurves - 1) / kMostCurves;
  for (std::size_t c = 0; c < complete.size(); c += every) {
    const std::vector<CurvePoint>& points = complete[c]->points;
    const std::size_t first = std::max<std::size_t>(1, points.size() / 2) - 1;
    std::vector<double> differences;
    for (const CurvePoint& point : std::span(points).subspan(std::min(first, points.size()))) {
      differences.push_back(point.value);
    }
    for (std::size_t order = 1; order < kVariances.size() + 2 && differences.size() > 1; ++order) {
      for (std::size_t i = 0; i + 1 < differences.size(); ++i) {
        differences[i] = differences[i + 1] - differences[i];
      }
      differences.pop_back();
      if (order == 1) continue;
      for (const double difference : differences) {
        if (std::isfinite(difference)) sizes[order - 2].push_back(std::abs(difference));
      }
    }
  }
  // As many second differences as two curves of the shortest useful length have. A choice.
  constexpr std::size_t kFewest = 4;
  std::optional<double> noise;
  for (std::size_t i = 0; i < kVariances.size(); ++i) {
    std::vector<double>& found = sizes[i];
    if (found.size() < kFewest) break;
    const auto middle = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2);
    std::ranges::nth_element(found, middle);
    // Half of a normal variable's distances from its mean are below 0.6745 deviations.
    const double estimate = *middle / (0.6745 * std::sqrt(kVariances[i]));
    // The course of a curve bends too, and the less of it is left in a difference, the higher its order.
    noise = std::min(noise.value_or(estimate), estimate);
  }
  return noise;
}

}  // namespace vernier
