#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "vernier/core/ids.h"

namespace vernier::service {

// The right of an attempt's programs to report on their trial, as a text: the attempt's number and a code that only who has
// the secret can make. Nothing is stored for a token, and a restarted server with the same secret knows it.
// Thread-safe.
class AttemptTokens {
 public:
  // `secret`: 32 random bytes or more, of one store.
  explicit AttemptTokens(std::string secret) : secret_(std::move(secret)) {}

  std::string Make(const AttemptId& id) const;
  // The attempt of the trial that the token was made for; whether it still runs is for others to say. Nothing: it was not
  // made by us, or for another trial.
  std::optional<AttemptId> Verify(const TrialId& trial, std::string_view token) const;

 private:
  const std::string secret_;
};

}  // namespace vernier::service
