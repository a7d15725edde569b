// One diverged trial with a loss of 1e6 would flatten all others, so an automatic axis leaves far outliers on the bad
// side out; the good side is always shown to its end. The rule is Tukey's fence, measured from the best value and not
// from the median, since good values are what the figure is about. The factors are choices.

#include "src/cli/plot/value_axis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fmt/format.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

// Margin between the outermost values and the ends of the axis.
constexpr double kValuePadding = 0.05;
// Values that span more than this factor are shown on a logarithmic axis.
constexpr double kDecades = 100;
// A value is an outlier if its distance to the best exceeds this multiple of the third quartile's distance.
constexpr double kFar = 2.5;
// Outliers are left out only if the others then have this many times the space.
constexpr double kWorthCutting = 1.6;

double Quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The same without interpolation, since the next value may be an outlier.
double LowerQuantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// The bad end of an automatic axis as a distance from the best; the largest distance if there are no outliers.
double FarthestShown(const std::vector<double>& distances) {
  if (distances.size() < 5) return distances.back();
  double fence = kFar * Quantile(distances, 0.75);
  if (!(fence > 0)) fence = kFar * Quantile(distances, 0.9);
  if (!(fence > 0) || distances.back() < kWorthCutting * fence) return distances.back();
  // Ends at the last value inside the fence.
  const auto beyond = std::upper_bound(distances.begin(), distances.end(), fence);
  const double last = *std::prev(beyond);
  return last > 0 ? last : distances.back();
}

}  // namespace

std::optional<AxisMode> ParseAxisMode(std::string_view name) {
  if (name == "auto") return AxisMode::kAuto;
  if (name == "full") return AxisMode::kFull;
  if (name == "log") return AxisMode::kLog;
  if (name == "regret") return AxisMode::kRegret;
  return std::nullopt;
}

absl::StatusOr<ValueAxis> ValueAxis::Create(const std::vector<double>& values,
                                            const Objective& objective,
                                            AxisMode mode) {
  ValueAxis axis;
  axis.label_ = objective.metric;
  axis.bad_is_high_ = objective.goal == Goal::kMinimize;
  std::vector<double> shown;
  for (const double value : values) {
    if (std::isfinite(value)) shown.push_back(value);
  }
  if (shown.empty()) return axis;
  std::sort(shown.begin(), shown.end());
  const double low = shown.front();
  const double high = shown.back();
  axis.best_ = axis.bad_is_high_ ? low : high;
  // Distances to the best.
  std::vector<double> distances;
  distances.reserve(shown.size());
  for (const double value : shown) distances.push_back(std::abs(value - axis.best_));
  std::sort(distances.begin(), distances.end());

  if (mode == AxisMode::kLog && low <= 0) {
    return InvalidArgument("--axis: log needs values above 0, got {}; `--axis regret` shows any",
                           low);
  }
  if (mode == AxisMode::kRegret) {
    axis.is_regret_ = true;
    axis.bad_is_high_ = true;
    axis.label_ = fmt::format("distance to the best {}", objective.metric);
    const auto first = std::find_if(
        distances.begin(), distances.end(), [](double distance) { return distance > 0; });
    // The axis starts below the smallest distance: the best itself has distance 0, which a logarithmic axis cannot
    // show, and is drawn at its end.
    axis.scale_ = first == distances.end()
                      ? AxisScale::Log(0.1, 1)
                      : AxisScale::Log(*first / 2, distances.back()).Padded(kValuePadding);
    return axis;
  }
  const bool spans_decades = axis.bad_is_high_ && low > 0 && shown.size() >= 5 &&
                             LowerQuantile(shown, 0.9) / low > kDecades;
  if (mode == AxisMode::kLog || (mode == AxisMode::kAuto && spans_decades)) {
    axis.scale_ = AxisScale::Log(low, high).Padded(kValuePadding);
    return axis;
  }
  const double farthest = mode == AxisMode::kAuto ? FarthestShown(distances) : distances.back();
  axis.scale_ = (axis.bad_is_high_ ? AxisScale::Linear(low, low + farthest)
                                   : AxisScale::Linear(high - farthest, high))
                    .Padded(kValuePadding);
  return axis;
}

double ValueAxis::Place(double value) const {
  if (is_regret_) value = std::abs(value - best_);
  // Values beyond the ends are drawn at the border.
  return std::clamp(value, scale_.low(), scale_.high());
}

bool ValueAxis::IsOutlier(double value) const {
  if (is_regret_) return false;
  return bad_is_high_ ? value > scale_.high() : value < scale_.low();
}

double ValueAxis::bad_end() const { return bad_is_high_ ? scale_.high() : scale_.low(); }

double ValueAxis::LevelOf(double value) const {
  const double share = std::clamp(scale_.Share(Place(value)), 0.0, 1.0);
  return bad_is_high_ ? 1 - share : share;
}

AxisScale ValueAxis::LevelScale() const {
  const double worst = bad_is_high_ ? scale_.high() : scale_.low();
  const double best = bad_is_high_ ? scale_.low() : scale_.high();
  return scale_.is_log() ? AxisScale::Log(worst, best) : AxisScale::Linear(worst, best);
}

}  // namespace vernier::plot
