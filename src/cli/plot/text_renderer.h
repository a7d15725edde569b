#pragma once

#include <string>
#include <vector>

#include "src/cli/plot/figure.h"

namespace vernier::plot {

struct TextOptions {
  int width = 80;   // Columns; no line takes more.
  int height = 16;  // Lines of a panel that does not say how many it needs.
  bool unicode = true;
  bool color = false;
};

// The figure as lines for a terminal, without newlines. What has no room is cut, never wrapped into the picture.
std::vector<std::string> RenderText(const Figure& figure, const TextOptions& options);

}  // namespace vernier::plot
