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
  return fmt::format("{}-{}", id.number.value(), base::KeyedHash(secret_, text));
}

std::optional<AttemptId> AttemptTokens::Verify(const TrialId& trial, std::string_view token) const {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error != std::errc() || number < 1) return std::nullopt;
  const AttemptId id{trial, AttemptNumber(number)};
  return base::IsSameSecret(Make(id), token) ? std::optional(id) : std::nullopt;
}

}  // namespace vernier::service
