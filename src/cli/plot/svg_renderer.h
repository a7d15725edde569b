#pragma once

#include <string>
#include <string_view>

#include "src/cli/plot/figure.h"

namespace vernier::plot {

// Escapes text for use between tags or in an attribute. Bytes that XML cannot represent are replaced.
std::string EscapeXml(std::string_view text);

// CSS rules for the classes of RenderSvg's elements, light and dark.
std::string SvgStyle();

struct SvgOptions {
  double width = 800;
  bool standalone = true;  // A separate file: with namespace, style and background.
};

// The figure as SVG: no script, no external resource, no ids.
std::string RenderSvg(const Figure& figure, const SvgOptions& options = {});

}  // namespace vernier::plot
