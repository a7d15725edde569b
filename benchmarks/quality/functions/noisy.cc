// Members of the other families, told with noise: a tenth of the median regret of random points, or more.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/quality/functions.h"

namespace vernier::quality {

void AddNoisy(std::vector<Function>& functions) {
  const auto add = [&](const std::string& name, double noise) {
    const auto at = std::find_if(
        functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
    Function noisy = *at;
    noisy.name += "_noisy";
    noisy.family = "noisy";
    noisy.noise = noise;
    functions.push_back(std::move(noisy));
  };
  add("hartmann3", 0.2);
  add("styblinski5", 8);
  add("sharp_ridge7", 150);
  add("bowl5", 0.1);
  add("optimizers", 0.04);
  add("network", 0.05);
}

}  // namespace vernier::quality
