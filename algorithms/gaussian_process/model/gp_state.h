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

// Where the next fit of a metric's model starts.
struct MetricState {
  std::array<std::optional<Hyperparameters>, kWarps.size()> by_warp;  // All or none.
  Warp warp = Warp::kHalfRank;                                        // The one in use.
  std::int64_t anchor = 0;  // The number of trials that the model looked at when they were fitted.
};

// The same of all models of a surrogate.
struct ModelState {
  std::vector<MetricState> metrics;        // Objectives, then outcome constraints.
  std::int64_t fitted_at = 0;              // The number of trials when they were fitted.
  std::int64_t fits = 0;                   // How often they were.
  std::optional<Hyperparameters> success;  // Of the failure model.
};

// The memory of the optimiser from one call to the next: where the next fits start, and which initial design is walked.
struct GpState {
  ModelState whole;   // Of the whole space …
  ModelState nearby;  // … and near the best trial (trust_region.h).
  // The coordinates of the trial that was last believed to be the best.
  std::optional<std::vector<double>> best;
  std::optional<std::uint64_t> design_seed;
};

// What the state of a problem has: so many metrics, length scales, and coordinates.
struct StateShape {
  std::size_t metrics;
  int groups;
  std::size_t coordinates;
};

// JSON of numbers with 17 digits where they need them: reading gives back the same bits.
std::string FormatState(const GpState& state);
// An empty state of the shape unless the text is one: nothing in it is relied on.
GpState ParseState(std::string_view text, const StateShape& shape);
// The state of a study that continues one which left `text`: its initial design. Empty unless the text has one.
std::string Continuation(std::string_view text);

}  // namespace vernier::gp
