#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vernier {

// Why a call was refused, for programs; the message is for people.
enum class Reason {
  kNone,
  kStudyExists,
  kStudyNotFound,
  kStudyNotActive,
  kTrialNotFound,
  kTrialFinished,
  kIllegalTransition,
  kBudgetSpent,
  kParallelLimit,
  kSpaceExhausted,
  kLeaseLost,
  kRequestReused,
  kInsufficientCapacity,
  kStoreBusy,
  kStoreGone,
  kDataLoss,
};

// UPPER_SNAKE_CASE, as on the wire: "TRIAL_FINISHED".
std::string_view ReasonName(Reason reason);

// The same status with a reason that survives being passed on.
absl::Status WithReason(absl::Status status, Reason reason);
Reason GetReason(const absl::Status& status);

// InvalidArgument "<path>: <message>", for instance "parameters.lr.float[0]: must be above 0 for log scale, got 0".
// `path` is also kept apart for the wire's typed error details.
absl::Status FieldError(std::string_view path, std::string_view message);
// The path given to FieldError, if the status was made by it.
std::optional<std::string> GetField(const absl::Status& status);

}  // namespace vernier

// Leaves the function with the status of `expr` if it is not OK.
#define VERNIER_RETURN_IF_ERROR(expr)                  \
  do {                                                 \
    ::absl::Status vernier_status_ = (expr);           \
    if (!vernier_status_.ok()) return vernier_status_; \
  } while (false)

#define VERNIER_CONCAT_INNER_(a, b) a##b
#define VERNIER_CONCAT_(a, b) VERNIER_CONCAT_INNER_(a, b)
// VERNIER_ASSIGN_OR_RETURN(const Trial trial, storage.GetTrial(id));
#define VERNIER_ASSIGN_OR_RETURN(lhs, expr) \
  VERNIER_ASSIGN_OR_RETURN_IMPL_(VERNIER_CONCAT_(vernier_or_, __LINE__), lhs, expr)
#define VERNIER_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr)                                    \
  auto tmp = (expr);                             /* NOLINT(bugprone-macro-parentheses) */ \
  if (!tmp.ok()) return std::move(tmp).status(); /* NOLINT(bugprone-macro-parentheses) */ \
  lhs = *std::move(tmp)                          /* NOLINT(bugprone-macro-parentheses) */
