#pragma once

#include <string>
#include <vector>

namespace vernier::quality {

// Regret after each trial.
struct Curve {
  std::string algorithm;
  std::vector<double> regret;
};
struct Panel {
  std::string title;
  std::vector<Curve> curves;
};

// An SVG picture: for each panel, regret on a log scale over trials, a line for each algorithm.
std::string RegretChart(const std::vector<Panel>& panels);

}  // namespace vernier::quality
