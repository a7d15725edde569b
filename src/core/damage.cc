#include "src/core/damage.h"

#include <string>

#include "fmt/format.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

// The end of every message about damage. WithoutAdvice removes it from an inner message, so that a message has it once.
constexpr std::string_view kAdvice = "; run `vernier server check` (docs/guides/operating.md)";

}  // namespace

std::string_view WithoutAdvice(std::string_view message) {
  if (message.ends_with(kAdvice)) message.remove_suffix(kAdvice.size());
  return message;
}

absl::Status Damage(std::string_view what, std::string_view why) {
  return WithReason(absl::DataLossError(fmt::format("{}: {}{}", what, WithoutAdvice(why), kAdvice)),
                    Reason::kDataLoss);
}

absl::Status DamageOf(std::string_view study, const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  const std::string message(status.message());
  if (study.empty()) {
    // It has its reason, and with it the advice, from an inner call.
    if (GetReason(status) == Reason::kDataLoss) return status;
    return WithReason(absl::DataLossError(message + std::string(kAdvice)), Reason::kDataLoss);
  }
  const std::string what = fmt::format("study '{}' is damaged", study);
  // Named already by an inner call.
  return message.starts_with(what) ? status : Damage(what, message);
}

}  // namespace vernier
