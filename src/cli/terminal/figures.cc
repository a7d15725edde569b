// Short forms of numbers, durations and curves. Numbers have a fixed number of significant digits, since metrics range
// from 1e-9 to 1e9.

#include "src/cli/terminal/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "fmt/format.h"

namespace vernier::cli {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kRamp = {"_", ".", "-", "~", "=", "+", "*", "#"};

// Means of `width` equal stretches; NaN for a stretch without a finite value.
std::vector<double> Resample(std::span<const double> values, int width) {
  const auto cells = std::min(values.size(), static_cast<std::size_t>(width));
  std::vector<double> means(cells, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t first = cell * values.size() / cells;
    const std::size_t last = (cell + 1) * values.size() / cells;
    double sum = 0;
    int count = 0;
    for (const double value : values.subspan(first, last - first)) {
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
    if (count > 0) means[cell] = sum / count;
  }
  return means;
}

}  // namespace

std::string FormatFigure(double value) { return fmt::format("{:.6g}", value); }

std::string FormatCompact(double value) {
  const double rest = 1 - value;
  if (rest <= 0 || rest >= 0.01) return fmt::format("{:.3g}", value);
  const int digits = 1 - static_cast<int>(std::floor(std::log10(rest)));
  return fmt::format("{:.{}g}", value, digits);
}

std::string FormatElapsed(absl::Duration elapsed) {
  elapsed = std::max(elapsed, absl::ZeroDuration());
  const double seconds = absl::ToDoubleSeconds(elapsed);
  // Up to the value that rounds to 10.0.
  if (seconds < 9.95) return fmt::format("{:.1f}s", seconds);
  if (!std::isfinite(seconds)) return "inf";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole % 86400 / 3600);
}

std::string FormatMoment(absl::Time time, absl::TimeZone zone) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", time, zone);
}

std::optional<CurveScale> CommonScale(std::span<const std::vector<double>> curves, int width) {
  // docs/guides/cli.md: at most 5% of the values at each end.
  constexpr double kTail = 0.05;
  std::vector<double> all;
  for (const std::vector<double>& curve : curves) {
    // The cells as drawn count, not the values: a spike that averages out needs no room.
    for (const double cell : Resample(curve, width)) {
      if (!std::isnan(cell)) all.push_back(cell);
    }
  }
  if (all.empty()) return std::nullopt;
  std::sort(all.begin(), all.end());
  const auto last = static_cast<double>(all.size() - 1);
  return CurveScale{.low = all[static_cast<std::size_t>(std::floor(kTail * last))],
                    .high = all[static_cast<std::size_t>(std::ceil((1 - kTail) * last))]};
}

std::string Sparkline(std::span<const double> values,
                      int width,
                      bool unicode,
                      std::optional<CurveScale> scale) {
  const std::vector<double> cells = Resample(values, width);
  if (!scale) {
    scale = CurveScale{.low = std::numeric_limits<double>::infinity(),
                       .high = -std::numeric_limits<double>::infinity()};
    for (const double cell : cells) {
      if (std::isnan(cell)) continue;
      scale->low = std::min(scale->low, cell);
      scale->high = std::max(scale->high, cell);
    }
  }
  const auto [low, high] = *scale;
  const auto& levels = unicode ? kBlocks : kRamp;
  std::string line;
  for (const double cell : cells) {
    if (std::isnan(cell)) {
      line += ' ';
      continue;
    }
    // A flat curve is drawn in the middle, as neither low nor high.
    const double height = high > low ? std::clamp((cell - low) / (high - low), 0.0, 1.0) : 0.5;
    line += levels[static_cast<std::size_t>(std::lround(height * (levels.size() - 1)))];
  }
  return line;
}

std::string ProgressBar(double done, double total, int width, bool unicode) {
  const double share = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<int>(std::floor(share * width + 1e-9));
  std::string bar;
  for (int i = 0; i < width; ++i) {
    if (unicode) {
      bar += i < filled ? "█" : "░";
    } else {
      bar += i < filled ? "#" : ".";
    }
  }
  return bar;
}

}  // namespace vernier::cli
