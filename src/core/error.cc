#include "vernier/core/error.h"

#include <array>

#include "absl/strings/cord.h"
#include "fmt/format.h"

namespace vernier {
namespace {

// Keys of absl::Status payloads: the reason and the field travel with a status through any number of functions.
constexpr char kReasonPayload[] = "vernier.reason";
constexpr char kFieldPayload[] = "vernier.field";

// In the order of Reason. Sent to clients: never rename one.
constexpr std::array<std::string_view, 16> kReasonNames = {
    "NONE",
    "STUDY_EXISTS",
    "STUDY_NOT_FOUND",
    "STUDY_NOT_ACTIVE",
    "TRIAL_NOT_FOUND",
    "TRIAL_FINISHED",
    "ILLEGAL_TRANSITION",
    "BUDGET_SPENT",
    "PARALLEL_LIMIT",
    "SPACE_EXHAUSTED",
    "LEASE_LOST",
    "REQUEST_REUSED",
    "INSUFFICIENT_CAPACITY",
    "STORE_BUSY",
    "STORE_GONE",
    "DATA_LOSS",
};

}  // namespace

std::string_view ReasonName(Reason reason) {
  return kReasonNames.at(static_cast<std::size_t>(reason));
}

absl::Status WithReason(absl::Status status, Reason reason) {
  const std::string name(ReasonName(reason));
  status.SetPayload(kReasonPayload, absl::Cord(name));
  return status;
}

Reason GetReason(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonPayload);
  if (!payload.has_value()) return Reason::kNone;
  const std::string name(*payload);
  for (std::size_t i = 0; i < kReasonNames.size(); ++i) {
    if (kReasonNames[i] == name) return static_cast<Reason>(i);
  }
  return Reason::kNone;
}

// The path is in the message for people, and in the payload for programs.
absl::Status FieldError(std::string_view path, std::string_view message) {
  absl::Status status = absl::InvalidArgumentError(fmt::format("{}: {}", path, message));
  status.SetPayload(kFieldPayload, absl::Cord(std::string(path)));
  return status;
}

std::optional<std::string> GetField(const absl::Status& status) {
  const auto payload = status.GetPayload(kFieldPayload);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

}  // namespace vernier
