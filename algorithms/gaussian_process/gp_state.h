#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/gaussian_process/kernel.h"
#include "algorithms/gaussian_process/targets.h"

namespace vernier::gp {

// The memory of the optimiser from one call to the next: where the next fit starts, and which initial design is walked.
struct GpState {
  // Of the objective's model, for each of kWarps; both or none.
  std::array<std::optional<Hyperparameters>, kWarps.size()> objective;
  Warp warp = Warp::kHalfRank;             // Which of them is in use.
  std::int64_t fitted_at = 0;              // The number of trials when they were fitted …
  std::int64_t anchor = 0;                 // … and of those that the model looked at then.
  std::optional<Hyperparameters> success;  // Of the failure model.
  std::optional<std::uint64_t> design_seed;
};

// JSON of numbers with 17 digits where they need them: reading gives back the same bits.
std::string FormatState(const GpState& state);
// An empty state unless the text is one: nothing in it is relied on.
// `groups`: the number of length scales that it must have.
GpState ParseState(std::string_view text, int groups);

}  // namespace vernier::gp
