#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/targets.h"

namespace vernier::gp {

// Hyperparameters of a metric's model, from which its next fit starts.
struct MetricState {
  std::array<std::optional<Hyperparameters>, kWarps.size()> by_warp;  // All or none.
  Warp warp = Warp::kHalfRank;                                        // The warp in use.
  // Number of trials in the model when its factor was last computed at once (GrowingFactor).
  std::int64_t anchor = 0;
};

// State of all models of a surrogate.
struct ModelState {
  std::vector<MetricState> metrics;        // Objectives, then outcome constraints.
  std::int64_t fitted_at = 0;              // Number of finished trials at the last fit.
  std::int64_t fits = 0;                   // Number of fits so far.
  std::optional<Hyperparameters> success;  // Of the failure model.
};

// State of the optimiser from one call to the next. The study records it, so that a call replays.
struct GpState {
  ModelState whole;   // Models of the whole space.
  ModelState nearby;  // Models of the trials near the best one (trust_region.h).
  // Coordinates of the best trial by the posterior mean of the last model.
  std::optional<std::vector<double>> best;
  // Seed of the initial design's Sobol sequence.
  std::optional<std::uint64_t> design_seed;
};

// Sizes that a state of the problem must have: numbers of metrics, length scales and coordinates.
struct StateShape {
  std::size_t metrics;
  int groups;
  std::size_t coordinates;
};

// Formats the state as JSON, with up to 17 digits a number: parsing gives back the same bits.
std::string FormatState(const GpState& state);
// Parses a state. Invalid parts are left empty, so that any text gives a state of the shape.
GpState ParseState(std::string_view text, const StateShape& shape);
// Returns the first state of a study that continues one with state `text`: the seed of its initial design and no fits.
// Empty unless the text has a seed.
std::string Continuation(std::string_view text);

}  // namespace vernier::gp
