#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vernier {

// Why a call was refused, for programs. The message of a status is for people.
//
//   const auto trials = studies.Suggest(…);
//   if (GetReason(trials.status()) == Reason::kParallelLimit) WaitAndTryAgain();
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

// Returns the status with a reason, which is kept when the status is passed on, also over gRPC. `status` must not be
// OK.
absl::Status WithReason(absl::Status status, Reason reason);
// Returns the reason; kNone if there is none, or if it is unknown here.
Reason GetReason(const absl::Status& status);

// Returns InvalidArgument "<path>: <message>", for instance
// "parameters.lr.float[0]: must be above 0 for log scale, got 0". GetField returns `path`.
absl::Status FieldError(std::string_view path, std::string_view message);
// Returns the path of a status that FieldError made; nullopt for others.
std::optional<std::string> GetField(const absl::Status& status);

}  // namespace vernier

// Returns the status of `expr` from the enclosing function if it is not OK.
#define VERNIER_RETURN_IF_ERROR(expr)                  \
  do {                                                 \
    ::absl::Status vernier_status_ = (expr);           \
    if (!vernier_status_.ok()) return vernier_status_; \
  } while (false)

#define VERNIER_CONCAT_INNER_(a, b) a##b
#define VERNIER_CONCAT_(a, b) VERNIER_CONCAT_INNER_(a, b)
// Assigns the value of a StatusOr, or returns its status from the enclosing function:
//
//   VERNIER_ASSIGN_OR_RETURN(const Trial trial, storage.GetTrial(id));
//
// Expands to several statements: put braces around it after `if`.
#define VERNIER_ASSIGN_OR_RETURN(lhs, expr) \
  VERNIER_ASSIGN_OR_RETURN_IMPL_(VERNIER_CONCAT_(vernier_or_, __LINE__), lhs, expr)
#define VERNIER_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr)                                    \
  auto tmp = (expr);                             /* NOLINT(bugprone-macro-parentheses) */ \
  if (!tmp.ok()) return std::move(tmp).status(); /* NOLINT(bugprone-macro-parentheses) */ \
  lhs = *std::move(tmp)                          /* NOLINT(bugprone-macro-parentheses) */
