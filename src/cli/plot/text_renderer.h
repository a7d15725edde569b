#pragma once

#include <string>
#include <vector>

#include "src/cli/plot/figure.h"

namespace vernier::plot {

struct TextOptions {
  int width = 80;   // Columns; no line takes more.
  int height = 16;  // Lines of a panel without a height of its own.
  bool unicode = true;
  bool color = false;
};

// The figure as lines for a terminal, without line ends. Parts that do not fit are cut, never wrapped into the figure.
std::vector<std::string> RenderText(const Figure& figure, const TextOptions& options);

}  // namespace vernier::plot
