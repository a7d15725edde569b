#include "benchmarks/quality/regret_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "fmt/format.h"

namespace vernier::quality {
namespace {

constexpr double kWidth = 300;
constexpr double kHeight = 200;
constexpr double kMargin = 36;
constexpr std::size_t kColumns = 3;
constexpr double kLeastRegret = 1e-6;
// Okabe and Ito's colours, which the colour-blind can tell apart.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};

double Decades(double regret) { return std::log10(std::max(regret, kLeastRegret)); }

struct Range {
  double low = 0;
  double high = 1;
};
Range DecadesOf(const Panel& panel) {
  Range range{.low = 1e9, .high = -1e9};
  for (const Curve& curve : panel.curves) {
    for (const double regret : curve.regret) {
      range.low = std::min(range.low, std::floor(Decades(regret)));
      range.high = std::max(range.high, std::ceil(Decades(regret)));
    }
  }
  return range;
}

std::string Lines(const Panel& panel, const Range& range) {
  std::string svg;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const std::vector<double>& regret = panel.curves[i].regret;
    std::string points;
    for (std::size_t t = 0; t < regret.size(); ++t) {
      const double x = kWidth * static_cast<double>(t + 1) / static_cast<double>(regret.size());
      const double y = kHeight * (range.high - Decades(regret[t])) / (range.high - range.low);
      points += fmt::format("{:.1f},{:.1f} ", x, y);
    }
    const char* colour = kColours[i % kColours.size()];
    svg += fmt::format(
        "<polyline fill='none' stroke='{}' stroke-width='2' points='{}'/>\n", colour, points);
    svg += fmt::format("<text x='{}' y='{}' fill='{}'>{}</text>\n",
                       kWidth - 80,
                       16 + 14 * i,
                       colour,
                       panel.curves[i].algorithm);
  }
  return svg;
}

std::string Grid(const Range& range) {
  std::string svg;
  // Both ends are whole decades.
  for (int decade = static_cast<int>(range.low); decade <= static_cast<int>(range.high); ++decade) {
    const double y = kHeight * (range.high - decade) / (range.high - range.low);
    svg += fmt::format("<line x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='#ddd'/>", kWidth, y, y);
    svg += fmt::format("<text x='-30' y='{:.1f}'>1e{}</text>\n", y + 4, decade);
  }
  return svg;
}

}  // namespace

std::string RegretChart(const std::vector<Panel>& panels) {
  const std::size_t rows = (panels.size() + kColumns - 1) / kColumns;
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' font-family='sans-serif' "
      "font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n",
      kColumns * (kWidth + 2 * kMargin),
      static_cast<double>(rows) * (kHeight + 2 * kMargin));
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t column = i % kColumns;
    const std::size_t row = i / kColumns;
    const double x = kMargin + static_cast<double>(column) * (kWidth + 2 * kMargin);
    const double y = kMargin + static_cast<double>(row) * (kHeight + 2 * kMargin);
    const Range range = DecadesOf(panels[i]);
    svg += fmt::format("<g transform='translate({},{})'>\n", x, y);
    svg += fmt::format("<text y='-10' font-size='13'>{}: normalised regret by trial</text>\n",
                       panels[i].title);
    svg += Grid(range) + Lines(panels[i], range) + "</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace vernier::quality
