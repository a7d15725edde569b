#include <utility>

#include "src/core/status.h"
#include "src/study/studies_impl.h"

namespace vernier::study {
namespace {

// Without a request id: an engine that lost an answer looks at the state, and does not repeat the call.
const Caller& EngineCaller() {
  static const Caller caller{.actor = "engine", .request_id = ""};
  return caller;
}

std::string AttemptTitle(const AttemptId& id) {
  return fmt::format("attempt {} of trial {}", id.number.value(), id.trial.number.value());
}

// The last attempt is the live one; all before it are fenced.
absl::StatusOr<const Attempt*> FindLive(const Trial& trial, const AttemptId& id) {
  const auto count = static_cast<std::int64_t>(trial.attempts.size());
  if (id.number.value() < 1 || id.number.value() > count) {
    return NotFound("{} has no attempt {}", TrialTitle(trial.number), id.number.value());
  }
  if (id.number.value() == count) return &trial.attempts.back();
  return WithReason(
      Aborted("{} was followed by attempt {}: its results do not count", AttemptTitle(id), count),
      Reason::kLeaseLost);
}

std::int64_t Restarts(const std::vector<ReplicaResult>& replicas) {
  std::int64_t sum = 0;
  for (const ReplicaResult& replica : replicas) sum += replica.restarts;
  return sum;
}

// Whether a replica of the running attempt was started again since it was last recorded.
bool IsRestart(const Attempt& attempt, const std::vector<ReplicaResult>& replicas) {
  return attempt.state == AttemptState::kRunning && Restarts(replicas) > Restarts(attempt.replicas);
}

// A waiting trial that is taken up counts as open from then on.
absl::Status CheckTakeUp(const Draft& draft, TrialNumber trial) {
  if (!draft.row(trial).waiting || ParallelRoom(draft.study()) > 0) return absl::OkStatus();
  const absl::Status full = CheckParallel(draft.study());
  return WithReason(FailedPrecondition("{}", std::string(full.message())), Reason::kParallelLimit);
}

}  // namespace

absl::StatusOr<Trial> StudiesImpl::Move(TrialId id,
                                        TrialState to,
                                        FailureClass failure,
                                        std::string_view message) {
  // A completion needs final metrics, and may turn out to be a failure without them.
  if (to == TrialState::kCompleted) return Complete(id, {}, std::nullopt, EngineCaller());
  return ChangeTrial(id, EngineCaller(), [&](Draft& draft, Transient&) -> absl::Status {
    const TrialState from = draft.trial(id.number).state;
    const Driver driver = DriverOf(draft.study());
    VERNIER_RETURN_IF_ERROR(CheckMove(TrialTitle(id.number), driver, from, to));
    VERNIER_RETURN_IF_ERROR(CheckTakeUp(draft, id.number));
    if (to == TrialState::kPaused) {
      AddPause(draft, id.number);
    } else {
      AddMove(draft, id.number, to, message, failure);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Trial> StudiesImpl::PlaceAttempt(TrialId id,
                                                const Placement& placement,
                                                std::string_view directory) {
  return ChangeTrial(id, EngineCaller(), [&](Draft& draft, Transient&) -> absl::Status {
    const Trial& trial = draft.trial(id.number);
    VERNIER_RETURN_IF_ERROR(CheckMove(
        TrialTitle(id.number), DriverOf(draft.study()), trial.state, TrialState::kPreparing));
    const AttemptNumber next(static_cast<std::int64_t>(trial.attempts.size()) + 1);
    if (next.value() > 1 && !IsEnded(trial.attempts.back().state)) {
      return FailedPrecondition("{} is {}: attempt {} cannot be placed",
                                AttemptTitle({id, trial.attempts.back().number}),
                                AttemptStateName(trial.attempts.back().state),
                                next.value());
    }
    // In one commit with the move: a trial that is QUEUED with a placed attempt could never be placed again.
    draft.Add(AttemptPlaced{.trial = id.number,
                            .attempt = next,
                            .placement = placement,
                            .directory = std::string(directory)});
    AddMove(draft, id.number, TrialState::kPreparing);
    return absl::OkStatus();
  });
}

absl::StatusOr<Trial> StudiesImpl::MoveAttempt(AttemptId id,
                                               AttemptState to,
                                               FailureClass failure,
                                               bool transient,
                                               std::string_view message,
                                               const std::vector<ReplicaResult>& replicas) {
  return ChangeTrial(id.trial, EngineCaller(), [&](Draft& draft, Transient&) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Attempt* attempt, FindLive(draft.trial(id.trial.number), id));
    // Said again, for instance by an engine that was restarted: nothing to record.
    if (attempt->state == to && !IsRestart(*attempt, replicas)) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(CheckMove(AttemptTitle(id), attempt->state, to));
    draft.Add(AttemptStateChanged{.trial = id.trial.number,
                                  .attempt = id.number,
                                  .to = to,
                                  .failure = failure,
                                  .transient = transient,
                                  .message = std::string(message),
                                  .replicas = replicas});
    return absl::OkStatus();
  });
}

}  // namespace vernier::study
