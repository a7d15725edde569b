#include "src/study/state_machine.h"

#include <algorithm>
#include <array>

#include "src/core/status.h"

namespace vernier::study {
namespace {

constexpr std::array kStudyMoves = {
    Move{StudyState::kActive, StudyState::kPaused},
    Move{StudyState::kActive, StudyState::kStopping},
    Move{StudyState::kActive, StudyState::kCompleted},
    Move{StudyState::kActive, StudyState::kFailed},
    Move{StudyState::kPaused, StudyState::kActive},
    Move{StudyState::kPaused, StudyState::kStopping},
    // A study ends through STOPPING if trials of it are still at work: a user stopped it, its time
    // is over, or too many trials failed.
    Move{StudyState::kStopping, StudyState::kCompleted},
    Move{StudyState::kStopping, StudyState::kCancelled},
    Move{StudyState::kStopping, StudyState::kFailed},
    // Extended: by a raised budget, or a fix of what made it fail.
    Move{StudyState::kCompleted, StudyState::kActive},
    Move{StudyState::kFailed, StudyState::kActive},
};

// Trials of a study with a job.
constexpr std::array kEngineMoves = {
    Move{TrialState::kRequested, TrialState::kQueued},
    Move{TrialState::kRequested, TrialState::kCancelled},
    Move{TrialState::kQueued, TrialState::kPreparing},
    Move{TrialState::kQueued, TrialState::kStopping},
    Move{TrialState::kQueued, TrialState::kFailed},  // Its gang can never be placed.
    Move{TrialState::kPreparing, TrialState::kRunning},
    Move{TrialState::kPreparing, TrialState::kQueued},  // A retry is a new attempt.
    Move{TrialState::kPreparing, TrialState::kStopping},
    Move{TrialState::kPreparing, TrialState::kFailed},
    Move{TrialState::kRunning, TrialState::kQueued},
    Move{TrialState::kRunning, TrialState::kStopping},
    Move{TrialState::kRunning, TrialState::kCompleted},
    Move{TrialState::kRunning, TrialState::kFailed},
    Move{TrialState::kRunning, TrialState::kInfeasible},
    Move{TrialState::kPaused, TrialState::kQueued},
    Move{TrialState::kPaused, TrialState::kCompleted},  // Nobody takes it back any more.
    Move{TrialState::kPaused, TrialState::kFailed},     // Its objective had diverged.
    Move{TrialState::kPaused, TrialState::kCancelled},  // It lacks the value of an objective.
    Move{TrialState::kStopping, TrialState::kPaused},
    Move{TrialState::kStopping, TrialState::kCompleted},
    Move{TrialState::kStopping, TrialState::kFailed},  // Its objective had diverged.
    Move{TrialState::kStopping, TrialState::kCancelled},
};

// A client takes a trial and runs it, so there are no states for its queue and its preparation.
constexpr std::array kClientMoves = {
    Move{TrialState::kRequested, TrialState::kRunning},
    Move{TrialState::kRequested, TrialState::kCancelled},
    Move{TrialState::kRunning, TrialState::kRequested},  // The lease expired: it is offered again.
    Move{TrialState::kRunning, TrialState::kStopping},
    Move{TrialState::kRunning, TrialState::kCompleted},
    Move{TrialState::kRunning, TrialState::kFailed},
    Move{TrialState::kRunning, TrialState::kInfeasible},
    Move{TrialState::kStopping, TrialState::kCompleted},
    Move{TrialState::kStopping, TrialState::kFailed},  // Its objective had diverged.
    Move{TrialState::kStopping, TrialState::kCancelled},
};

// The engine may observe late: a short attempt can be over before it was seen running, and one that
// was given up as lost may turn out to have ended.
constexpr std::array kAttemptMoves = {
    Move{AttemptState::kPlaced, AttemptState::kStarting},
    Move{AttemptState::kPlaced, AttemptState::kRunning},
    Move{AttemptState::kPlaced, AttemptState::kSucceeded},
    Move{AttemptState::kPlaced, AttemptState::kFailed},
    Move{AttemptState::kPlaced, AttemptState::kStopped},
    Move{AttemptState::kPlaced, AttemptState::kLost},
    Move{AttemptState::kStarting, AttemptState::kRunning},
    Move{AttemptState::kStarting, AttemptState::kSucceeded},
    Move{AttemptState::kStarting, AttemptState::kFailed},
    Move{AttemptState::kStarting, AttemptState::kStopped},
    Move{AttemptState::kStarting, AttemptState::kLost},
    Move{AttemptState::kRunning, AttemptState::kRunning},  // A replica was started again.
    Move{AttemptState::kRunning, AttemptState::kSucceeded},
    Move{AttemptState::kRunning, AttemptState::kFailed},
    Move{AttemptState::kRunning, AttemptState::kStopped},
    Move{AttemptState::kRunning, AttemptState::kLost},
    Move{AttemptState::kLost, AttemptState::kSucceeded},
    Move{AttemptState::kLost, AttemptState::kFailed},
    Move{AttemptState::kLost, AttemptState::kStopped},
};

// A linear search: the tables are short.
template <typename State>
bool Contains(std::span<const Move<State>> moves, State from, State to) {
  return std::any_of(moves.begin(), moves.end(), [&](const Move<State>& move) {
    return move.from == from && move.to == to;
  });
}

absl::Status Illegal(std::string_view what, std::string_view from, std::string_view to) {
  if (from == to) {
    // The name of this state is the same for studies and trials.
    const bool is_stopping = to == TrialStateName(TrialState::kStopping);
    return WithReason(
        FailedPrecondition("{} is {} already", what, is_stopping ? "being stopped" : to),
        Reason::kIllegalTransition);
  }
  return WithReason(FailedPrecondition("{} is {}: it cannot become {}", what, from, to),
                    Reason::kIllegalTransition);
}

}  // namespace

std::span<const Move<StudyState>> StudyMoves() { return kStudyMoves; }
std::span<const Move<AttemptState>> AttemptMoves() { return kAttemptMoves; }
std::span<const Move<TrialState>> TrialMoves(Driver driver) {
  if (driver == Driver::kEngine) return kEngineMoves;
  return kClientMoves;
}

bool IsLegal(StudyState from, StudyState to) { return Contains(StudyMoves(), from, to); }
bool IsLegal(AttemptState from, AttemptState to) { return Contains(AttemptMoves(), from, to); }
bool IsLegal(Driver driver, TrialState from, TrialState to) {
  return Contains(TrialMoves(driver), from, to);
}

absl::Status CheckMove(std::string_view what, StudyState from, StudyState to) {
  if (IsLegal(from, to)) return absl::OkStatus();
  return Illegal(what, StudyStateName(from), StudyStateName(to));
}

absl::Status CheckMove(std::string_view what, Driver driver, TrialState from, TrialState to) {
  if (IsLegal(driver, from, to)) return absl::OkStatus();
  if (IsFinished(from)) {
    return WithReason(FailedPrecondition("{} is already {}: it cannot become {}",
                                         what,
                                         TrialStateName(from),
                                         TrialStateName(to)),
                      Reason::kTrialFinished);
  }
  return Illegal(what, TrialStateName(from), TrialStateName(to));
}

absl::Status CheckMove(std::string_view what, AttemptState from, AttemptState to) {
  if (IsLegal(from, to)) return absl::OkStatus();
  return Illegal(what, AttemptStateName(from), AttemptStateName(to));
}

}  // namespace vernier::study
