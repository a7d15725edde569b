#include "algorithms/sampling/sequence_state.h"

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace vernier::sampling {

std::string FormatState(const SequenceState& state) {
  return fmt::format(R"({{"next":{},"seed":{}}})", state.next, state.seed);
}

std::optional<SequenceState> ParseState(std::string_view text, std::uint64_t limit) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto next = json.find("next");
  const auto seed = json.find("seed");
  if (next == json.end() || !next->is_number_unsigned()) return std::nullopt;
  if (seed == json.end() || !seed->is_number_unsigned()) return std::nullopt;
  const SequenceState state{.next = next->get<std::uint64_t>(), .seed = seed->get<std::uint64_t>()};
  if (state.next >= limit) return std::nullopt;
  return state;
}

}  // namespace vernier::sampling
