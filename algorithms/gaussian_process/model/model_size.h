#pragma once

#include <cstddef>
#include <optional>

namespace vernier::gp {

// How many trials a model takes in.
struct ModelSize {
  std::size_t points = 1024;  // At most; of more trials, some are chosen.
  std::size_t fitted = 300;   // Hyperparameters are fitted to so many of these, at most.
  friend bool operator==(const ModelSize&, const ModelSize&) = default;
};

// What the models of one suggestion are made of.
struct ModelShape {
  std::size_t models = 1;   // One for each metric, and one of what fails.
  std::size_t groups = 1;   // Of features: each has a length scale.
  std::size_t columns = 1;  // Of features.
};

// The largest models, up to `most`, whose suggestion stays within a budget of counted work and memory, however its fits go.
// Nothing where those would be too small to tell anything.
std::optional<ModelSize> Affordable(const ModelShape& shape, const ModelSize& most);

}  // namespace vernier::gp
