#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/time/time.h"

// Numbers, durations and curves, short enough for a table.
namespace vernier::cli {

// Six significant digits: "0.971234", "1e-05", "nan".
std::string FormatFigure(double value);
// Three significant digits, for parameters in a table: "0.00312".
std::string FormatCompact(double value);
// "45s", "1m02s", "3h07m", "2d04h"; below ten seconds with one decimal: "3.2s".
std::string FormatElapsed(absl::Duration elapsed);
// "512 MiB", "4.0 GiB".
std::string FormatBytes(std::int64_t bytes);
// "2026-11-21 04:35:13" in `zone`.
std::string FormatMoment(absl::Time time, absl::TimeZone zone);

// A curve as one line of blocks, lowest value lowest, at most `width` of them: longer curves are averaged over equal
// stretches. NaN and infinities are blanks. Empty for an empty curve. Without `unicode`, a ramp of ASCII characters.
std::string Sparkline(std::span<const double> values, int width, bool unicode);

// `done` of `total` as a bar of `width` columns. done and total are clamped to 0 <= done <= total.
std::string ProgressBar(double done, double total, int width, bool unicode);

}  // namespace vernier::cli
