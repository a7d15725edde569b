#include "src/cli/terminal/svg.h"

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"

namespace vernier::cli {
namespace {

constexpr double kLegendY = SvgFrame::kHeight - 16;

constexpr std::string_view kStyle =
    "text{font:12px system-ui,sans-serif;fill:#333}"
    ".title{font-size:16px;font-weight:600}"
    ".grid{stroke:#e6e6e6}"
    ".axis{stroke:#555;fill:none}"
    ".best{stroke:#111;stroke-width:1.5;fill:none}";

}  // namespace

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

double SvgScales::X(double value) const {
  const double share = (value - across.front()) / (across.back() - across.front());
  return SvgFrame::kLeft + share * (SvgFrame::kWidth - SvgFrame::kLeft - SvgFrame::kRight);
}

double SvgScales::Y(double value) const {
  const double share = (value - up.front()) / (up.back() - up.front());
  return SvgFrame::kHeight - SvgFrame::kBottom -
         share * (SvgFrame::kHeight - SvgFrame::kTop - SvgFrame::kBottom);
}

std::string SvgBegin(std::string_view title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<style>{2}</style>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"{3}\" y=\"28\" class=\"title\">{4}</text>\n",
      SvgFrame::kWidth,
      SvgFrame::kHeight,
      kStyle,
      SvgFrame::kLeft,
      Escape(title));
}

std::string SvgAxes(const SvgScales& scales,
                    std::string_view label_across,
                    std::string_view label_up) {
  const double bottom = SvgFrame::kHeight - SvgFrame::kBottom;
  const double right = SvgFrame::kWidth - SvgFrame::kRight;
  std::string svg;
  for (const double tick : scales.up) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        SvgFrame::kLeft,
        right,
        scales.Y(tick),
        SvgFrame::kLeft - 8,
        scales.Y(tick) + 4,
        FormatFigure(tick));
  }
  for (const double tick : scales.across) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" class=\"axis\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        scales.X(tick),
        bottom,
        bottom + 5,
        bottom + 20,
        FormatFigure(tick));
  }
  svg += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" class=\"axis\"/>\n",
                     SvgFrame::kLeft,
                     SvgFrame::kTop,
                     bottom,
                     right);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (SvgFrame::kLeft + right) / 2,
                     bottom + 36,
                     Escape(label_across));
  if (label_up.empty()) return svg;
  return svg + fmt::format(
                   "<text transform=\"translate(16 {:.1f}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>\n",
                   (SvgFrame::kTop + bottom) / 2,
                   Escape(label_up));
}

std::string SvgCircle(const SvgDot& dot, std::string_view text) {
  const std::string paint = dot.hollow ? fmt::format("fill=\"#ffffff\" stroke=\"{}\"", dot.color)
                                       : fmt::format("fill=\"{}\"", dot.color);
  const std::string circle = fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.0f}\" {}", dot.x, dot.y, dot.radius, paint);
  if (text.empty()) return circle + "/>";
  return fmt::format("{}><title>{}</title></circle>\n", circle, Escape(text));
}

void SvgLegend::AddDot(std::string_view color, bool hollow, std::string_view name) {
  text_ += SvgCircle({.x = x_ + 4, .y = kLegendY - 4, .color = color, .hollow = hollow}, "");
  AddName(x_ + 14, name);
}

void SvgLegend::AddLine(std::string_view name) {
  text_ += fmt::format(
      "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"best\"/>",
      x_,
      x_ + 18,
      kLegendY - 4);
  AddName(x_ + 24, name);
}

void SvgLegend::AddName(double from, std::string_view name) {
  text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", from, kLegendY, name);
  x_ = from + 18 + 7.5 * static_cast<double>(name.size());
}

}  // namespace vernier::cli
