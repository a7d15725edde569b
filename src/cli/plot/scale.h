#pragma once

#include <limits>
#include <string>
#include <vector>

namespace vernier::plot {

// Where there is no value, or none that can be shown.
inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// A mark on an axis.
struct Tick {
  double value = 0;
  std::string label;
};

// Maps values to positions along an axis: 0 is the left or lower end, 1 the right or upper end.
class AxisScale {
 public:
  // Linear. `from` may exceed `to`, for an axis that runs downwards. Equal or non-finite ends are widened.
  static AxisScale Linear(double from, double to);
  // Linear, with ticks at whole numbers.
  static AxisScale Whole(double from, double to);
  // Linear shares, with ticks in percent.
  static AxisScale Percent(double from, double to);
  // Linear seconds, with ticks such as "30s", "5m", "2h".
  static AxisScale Elapsed(double from, double to);
  // Logarithmic; like Linear, it may run downwards. REQUIRES: both ends finite and above 0.
  static AxisScale Log(double from, double to);
  // Logarithmic from the upper end: 0.9, 0.99 and 0.999 are evenly spaced. REQUIRES: 0 < from <= to, both finite.
  static AxisScale ReverseLog(double from, double to);
  // One column for each label, at 0, 1, 2, …, with half a column at either end.
  static AxisScale Category(std::vector<std::string> labels);

  // The same scale with margins at both ends, each `share` of its length.
  AxisScale Padded(double share) const;

  // Position of a finite value; outside of [0, 1] if it is outside of the axis. NaN if the scale cannot show it.
  double Share(double value) const;
  // The value at a share.
  double At(double share) const;
  // About `count` ticks at most, all on the axis. Category scales have one tick for each label, whatever `count` is.
  std::vector<Tick> Ticks(int count) const;

  bool is_category() const { return kind_ == Kind::kCategory; }
  bool is_log() const { return kind_ == Kind::kLog; }
  double low() const { return At(0); }
  double high() const { return At(1); }

 private:
  enum class Kind { kLinear, kWhole, kPercent, kElapsed, kLog, kReverseLog, kCategory };

  AxisScale(Kind kind, double from, double to) : kind_(kind), from_(from), to_(to) {}
  std::vector<Tick> LogTicks(int count) const;
  std::vector<Tick> ReverseLogTicks(int count) const;
  std::vector<Tick> ElapsedTicks(int count) const;
  std::vector<Tick> CategoryTicks() const;

  Kind kind_;
  // Logarithms for kLog; for kReverseLog logarithms of the distance to mirror_.
  double from_;
  double to_;
  double mirror_ = 0;
  std::vector<std::string> labels_;
};

// Round numbers in [low, high], about `count` at most: multiples of 1, 2 or 5 times a power of ten.
// REQUIRES: low < high, both finite; count >= 2.
std::vector<double> RoundNumbers(double low, double high, int count);

}  // namespace vernier::plot
