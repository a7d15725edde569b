// Scales and their ticks. Tolerances around 1e-9 absorb rounding of log10 and of quotients, without which a tick at an
// end of the axis would come and go.

#include "src/cli/plot/scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "fmt/format.h"

namespace vernier::plot {
namespace {

// The smallest of 1, 2 and 5 times a power of ten that is at least `raw`.
double RoundStep(double raw) {
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> Multiples(double low, double high, double step) {
  const double first = std::ceil(low / step - 1e-9);
  const double last = std::floor(high / step + 1e-9);
  std::vector<double> values;
  // Counted in whole steps: far from zero, adding a small step to a double may not change it. Values that rounding puts
  // outside are left out.
  // A choice: more would be an error of the caller.
  constexpr double kMost = 1000;
  if (!(last - first < kMost)) return values;
  const double slack = 1e-6 * (high - low);
  for (int i = 0; i <= static_cast<int>(last - first); ++i) {
    const double value = (first + i) * step;
    if (value >= low - slack && value <= high + slack) values.push_back(value);
  }
  return values;
}

// Ends that are finite and differ.
std::pair<double, double> Widened(double from, double to) {
  if (!std::isfinite(from) || !std::isfinite(to)) return {0, 1};
  if (from != to && std::isfinite(to - from)) return {from, to};
  const double room = from == 0 ? 1 : std::abs(from) * 0.1;
  // Ends whose distance overflows are brought closer; equal ends get room on both sides.
  return from < to ? std::pair(from / 2, to / 2) : std::pair(from - room, from + room);
}

// Labels in one notation, with as many decimals as the distance of the values needs.
std::vector<Tick> Labelled(const std::vector<double>& values) {
  double largest = 0;
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(values[i]));
    if (i > 0) step = std::min(step, values[i] - values[i - 1]);
  }
  if (!std::isfinite(step)) step = largest > 0 ? largest / 10 : 1;
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  // Beyond these bounds, plain digits would be long rows of zeros.
  const bool is_plain = largest < 1e6 && decimals <= 6;
  // Digits from the first of the largest value to the last one that differs.
  const int digits =
      largest > 0 ? std::clamp(static_cast<int>(std::ceil(std::log10(largest / step))) + 1, 1, 12)
                  : 1;
  std::vector<Tick> ticks;
  for (const double value : values) {
    const double shown = value == 0 ? 0.0 : value;  // Never "-0".
    ticks.push_back({value,
                     is_plain ? fmt::format("{:.{}f}", shown, decimals)
                              : fmt::format("{:.{}g}", shown, digits)});
  }
  return ticks;
}

// "1e-5", "3e-4", "0.001", "20": short, and alike along an axis.
std::string LogLabel(double value) {
  const double power = std::floor(std::log10(value) + 1e-9);
  if (power >= -3 && power <= 5) return fmt::format("{:.6g}", value);
  return fmt::format("{:.3g}e{:.0f}", value / std::pow(10, power), power);
}

std::string ElapsedLabel(double seconds) {
  const double size = std::abs(seconds);
  const auto in = [&](double unit, const char* name) {
    return fmt::format("{:g}{}", std::round(seconds / unit * 1000) / 1000, name);
  };
  if (seconds == 0) return "0s";
  if (size < 1) return in(1e-3, "ms");
  if (size < 60) return in(1, "s");
  if (size < 3600) return in(60, "m");
  if (size < 86400) return in(3600, "h");
  return in(86400, "d");
}

double ElapsedStep(double raw) {
  // Steps that people use for time, in seconds.
  constexpr std::array<double, 18> kSteps = {
      1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
  if (raw <= kSteps.front() / 2) return RoundStep(raw);
  const auto* found = std::lower_bound(kSteps.begin(), kSteps.end(), raw * (1 - 1e-9));
  return found != kSteps.end() ? *found : RoundStep(raw / 86400) * 86400;
}

}  // namespace

std::vector<double> RoundNumbers(double low, double high, int count) {
  const double step = RoundStep((high - low) / std::max(1, count - 1));
  std::vector<double> numbers = Multiples(low, high, step);
  // A fitting step may leave fewer than three numbers between the ends; then the next smaller one is used.
  constexpr std::size_t kFew = 3;
  if (numbers.size() >= kFew || count < static_cast<int>(kFew)) return numbers;
  std::vector<double> more = Multiples(low, high, RoundStep(0.4 * step));
  return more.size() <= static_cast<std::size_t>(count) + 1 ? more : numbers;
}

AxisScale AxisScale::Linear(double from, double to) {
  const auto [a, b] = Widened(from, to);
  return {Kind::kLinear, a, b};
}

AxisScale AxisScale::Whole(double from, double to) {
  AxisScale scale = Linear(from, to);
  scale.kind_ = Kind::kWhole;
  return scale;
}

AxisScale AxisScale::Percent(double from, double to) {
  AxisScale scale = Linear(from, to);
  scale.kind_ = Kind::kPercent;
  return scale;
}

AxisScale AxisScale::Elapsed(double from, double to) {
  AxisScale scale = Linear(from, to);
  scale.kind_ = Kind::kElapsed;
  return scale;
}

AxisScale AxisScale::Log(double from, double to) {
  const bool has_decades = from > 0 && to > 0 && std::isfinite(from) && std::isfinite(to);
  if (!has_decades) return Linear(from, to);
  double a = std::log10(from);
  double b = std::log10(to);
  // One value: the axis spans a little to either side, so that the value is in its middle.
  if (a == b) {
    a -= 0.2;
    b += 0.2;
  }
  return {Kind::kLog, a, b};
}

AxisScale AxisScale::ReverseLog(double from, double to) {
  if (!(to > from)) return Linear(from, to);
  AxisScale scale(Kind::kReverseLog, std::log10(to), std::log10(from));
  // The distances of the two ends to this point are the ends themselves, exchanged.
  scale.mirror_ = from + to;
  return scale;
}

AxisScale AxisScale::Category(std::vector<std::string> labels) {
  AxisScale scale(Kind::kCategory, -0.5, std::max(0.5, static_cast<double>(labels.size()) - 0.5));
  scale.labels_ = std::move(labels);
  return scale;
}

AxisScale AxisScale::Padded(double share) const {
  AxisScale padded = *this;
  const double room = (to_ - from_) * share;
  padded.from_ -= room;
  padded.to_ += room;
  return padded;
}

double AxisScale::Share(double value) const {
  if (kind_ == Kind::kLog) value = value > 0 ? std::log10(value) : kNothing;
  if (kind_ == Kind::kReverseLog) {
    value = value < mirror_ ? std::log10(mirror_ - value) : kNothing;
  }
  return (value - from_) / (to_ - from_);
}

double AxisScale::At(double share) const {
  const double place = from_ + share * (to_ - from_);
  if (kind_ == Kind::kLog) return std::pow(10, place);
  if (kind_ == Kind::kReverseLog) return mirror_ - std::pow(10, place);
  return place;
}

std::vector<Tick> AxisScale::Ticks(int count) const {
  count = std::max(2, count);
  const double low = std::min(from_, to_);
  const double high = std::max(from_, to_);
  switch (kind_) {
    case Kind::kLog:
      return LogTicks(count);
    case Kind::kReverseLog:
      return ReverseLogTicks(count);
    case Kind::kElapsed:
      return ElapsedTicks(count);
    case Kind::kCategory:
      return CategoryTicks();
    case Kind::kWhole: {
      const double step = std::max(1.0, RoundStep((high - low) / (count - 1)));
      // Multiples of a whole step are whole.
      std::vector<Tick> ticks = Labelled(Multiples(low, high, step));
      // A single tick has no neighbour from which decimals could be determined.
      if (ticks.size() == 1) ticks.front().label = fmt::format("{:.0f}", ticks.front().value);
      return ticks;
    }
    case Kind::kPercent: {
      std::vector<Tick> ticks;
      const auto percents = Labelled(RoundNumbers(100 * low, 100 * high, count));
      ticks.reserve(percents.size());
      for (const Tick& tick : percents) ticks.push_back({tick.value / 100, tick.label + "%"});
      return ticks;
    }
    case Kind::kLinear:
      break;
  }
  return Labelled(RoundNumbers(low, high, count));
}

std::vector<Tick> AxisScale::LogTicks(int count) const {
  const double low = std::min(from_, to_);
  const double high = std::max(from_, to_);
  const double decades = high - low;
  // Within half a decade a logarithmic axis looks linear, and gets the ticks of one.
  if (decades < 0.5) return Labelled(RoundNumbers(std::pow(10, low), std::pow(10, high), count));
  // For each decade the power alone, or 1 2 5, or 1 3, as there is room; over many decades only every second, third, …
  // power.
  std::vector<double> factors = {1};
  if (decades * 3 <= count) {
    factors = {1, 2, 5};
  } else if (decades * 2 <= count) {
    factors = {1, 3};
  }
  const int every =
      factors.size() > 1 ? 1 : std::max(1, static_cast<int>(std::ceil(decades / (count - 1))));
  std::vector<Tick> ticks;
  const int last = static_cast<int>(std::floor(high + 1e-9));
  for (int power = static_cast<int>(std::floor(low)); power <= last; ++power) {
    // The same powers, whatever the ends: ticks do not move when an axis grows.
    if (power % every != 0) continue;
    for (const double factor : factors) {
      const double value = factor * std::pow(10, power);
      const double place = std::log10(value);
      if (place < low - 1e-9 || place > high + 1e-9) continue;
      ticks.push_back({value, LogLabel(value)});
    }
  }
  return ticks;
}

std::vector<Tick> AxisScale::ReverseLogTicks(int count) const {
  std::vector<Tick> ticks;
  for (int i = 0; i < count; ++i) {
    const double value = At(static_cast<double>(i) / (count - 1));
    ticks.push_back({value, fmt::format("{:.4g}", value)});
  }
  return ticks;
}

std::vector<Tick> AxisScale::ElapsedTicks(int count) const {
  const double low = std::min(from_, to_);
  const double high = std::max(from_, to_);
  std::vector<Tick> ticks;
  for (const double value : Multiples(low, high, ElapsedStep((high - low) / (count - 1)))) {
    ticks.push_back({value, ElapsedLabel(value)});
  }
  return ticks;
}

std::vector<Tick> AxisScale::CategoryTicks() const {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    ticks.push_back({static_cast<double>(i), labels_[i]});
  }
  return ticks;
}

}  // namespace vernier::plot
