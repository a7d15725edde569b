#pragma once

#include <cstddef>
#include <optional>

namespace vernier::gp {

// Most work for a model.
struct ModelSize {
  // Trials that the model is conditioned on; of more, a subsample.
  std::size_t points = 1024;
  // Trials that its hyperparameters are fitted to: a subsample of these.
  std::size_t fitted = 300;
  // Evaluations of a fit from an earlier optimum.
  int warm_evaluations = 12;
  friend bool operator==(const ModelSize&, const ModelSize&) = default;
};

// Sizes of the models of one suggestion that do not depend on the number of trials.
struct ModelShape {
  std::size_t models = 1;   // One for each metric, and the failure model.
  std::size_t groups = 1;   // Groups of feature columns: one length scale each.
  std::size_t columns = 1;  // Feature columns.
};

// Returns the largest models, up to `most`, with which a suggestion stays within the budget of counted work and memory
// in the worst case. Nullopt: such models would be too small to be useful.
std::optional<ModelSize> Affordable(const ModelShape& shape, const ModelSize& most);

}  // namespace vernier::gp
