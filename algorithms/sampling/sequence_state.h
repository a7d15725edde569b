#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vernier::sampling {

// The state of an optimiser that walks along a fixed sequence: where it is, and which of the sequences it walks.
struct SequenceState {
  std::uint64_t next = 0;
  std::uint64_t seed = 0;
};

// {"next":17,"seed":42}
std::string FormatState(const SequenceState& state);
// Nullopt unless the text is such a state with next < limit.
std::optional<SequenceState> ParseState(std::string_view text, std::uint64_t limit);

}  // namespace vernier::sampling
