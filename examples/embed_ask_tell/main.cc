// Finds the minimum of a function of two parameters with AskTell: no I/O, no threads, no store.
#include <cmath>
#include <cstdio>

#include "vernier/ask_tell.h"

int main() {
  const auto space = vernier::Space::Create(
      {{.name = "lr", .domain = vernier::FloatDomain{1e-5, 1e-1, vernier::Scale::kLog}},
       {.name = "layers", .domain = vernier::IntDomain{1, 8}}});
  const vernier::Problem problem{*space, {{"loss", vernier::Goal::kMinimize}}};
  auto study = vernier::AskTell::Create(problem, {.name = "gp"}, /*seed=*/7);
  for (int i = 0; i < 30; ++i) {
    const auto asked = study->Ask();
    const vernier::Point& point = asked->front().suggestion.point;
    const double lr = std::get<double>(point.at("lr"));
    const auto layers = static_cast<double>(std::get<std::int64_t>(point.at("layers")));
    const double loss = std::pow(std::log10(lr) + 3, 2) + 0.1 * std::pow(layers - 5, 2);
    if (!study->Tell(asked->front().trial, {loss}).ok()) return 1;
  }
  const auto best = study->Best();
  std::printf("%s loss=%.4f\n", vernier::FormatPoint(best->point).c_str(), best->values[0]);
  return best->values[0] < 0.1 ? 0 : 1;
}
