#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "src/base/byte_size.h"

// Numbers, durations and curves, short enough for a table.
namespace vernier::cli {

using base::FormatBytes;

// Six significant digits: "0.971234", "1e-05", "nan".
std::string FormatFigure(double value);
// Three significant digits, for parameters in a table: "0.00312". Just below 1, two digits of the distance from 1: "0.99987".
std::string FormatCompact(double value);
// "45s", "1m02s", "3h07m", "2d04h"; below ten seconds with one decimal: "3.2s".
std::string FormatElapsed(absl::Duration elapsed);
// "2026-11-21T04:35:13+01:00" in `zone`.
std::string FormatMoment(absl::Time time, absl::TimeZone zone);

// The values of the lowest and highest block of a curve.
struct CurveScale {
  double low = 0;
  double high = 0;
};

// A common scale for `curves` drawn `width` wide. It leaves out at most one value in twenty at either end, so that few
// extreme values do not flatten the others. Nothing if no value is finite.
std::optional<CurveScale> CommonScale(std::span<const std::vector<double>> curves, int width);

// A curve as one line of at most `width` blocks; longer curves are averaged over equal stretches. NaN and infinities
// are blank. Empty for an empty curve. Without `unicode`, ASCII characters. Values outside of `scale` are drawn at its
// ends; without `scale`, the curve's own range is used.
std::string Sparkline(std::span<const double> values,
                      int width,
                      bool unicode,
                      std::optional<CurveScale> scale = std::nullopt);

// A bar of `width` columns for `done` of `total`, clamped to 0 <= done <= total.
std::string ProgressBar(double done, double total, int width, bool unicode);

}  // namespace vernier::cli
