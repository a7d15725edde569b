#include "src/service/attempt_tokens.h"

#include <charconv>
#include <cstdint>

#include "fmt/format.h"
#include "src/base/keyed_hash.h"

namespace vernier::service {

std::string AttemptTokens::Make(const AttemptId& id) const {
  const std::string text = fmt::format("vernier attempt {}/{}/{}",
                                       id.trial.study.value(),
                                       id.trial.number.value(),
                                       id.number.value());
  // The number is in clear, so that Verify knows for which attempt to make the code again.
  return fmt::format("{}-{}", id.number.value(), base::KeyedHash(secret_, text));
}

std::optional<AttemptId> AttemptTokens::Verify(const TrialId& trial, std::string_view token) const {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  // What follows the number is checked with the whole token.
  if (error != std::errc() || number < 1) return std::nullopt;
  const AttemptId id{trial, AttemptNumber(number)};
  // Takes the same time wherever the texts differ, so that a token cannot be guessed byte by byte.
  return base::IsSameSecret(Make(id), token) ? std::optional(id) : std::nullopt;
}

}  // namespace vernier::service
