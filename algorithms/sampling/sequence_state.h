#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vernier::sampling {

// The state of an optimiser that proposes the points of a fixed sequence: the next index, and the seed of the sequence.
struct SequenceState {
  std::uint64_t next = 0;
  std::uint64_t seed = 0;
};

// Formats as {"next":17,"seed":42}.
std::string FormatState(const SequenceState& state);
// Parses a state. nullopt: another text, or next >= limit.
std::optional<SequenceState> ParseState(std::string_view text, std::uint64_t limit);

}  // namespace vernier::sampling
