#pragma once

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// Which states may follow which: the tables of ARCHITECTURE.md, as data.
namespace vernier::study {

// Who moves a trial: our own engine, or a client that holds a lease on it.
enum class Driver { kEngine, kClient };

template <typename State>
struct Move {
  State from;
  State to;
};
template <typename State>
Move(State, State) -> Move<State>;

// Every legal move, and no other.
std::span<const Move<StudyState>> StudyMoves();
std::span<const Move<TrialState>> TrialMoves(Driver driver);
std::span<const Move<AttemptState>> AttemptMoves();

bool IsLegal(StudyState from, StudyState to);
bool IsLegal(Driver driver, TrialState from, TrialState to);
bool IsLegal(AttemptState from, AttemptState to);

// FailedPrecondition (kIllegalTransition, or kTrialFinished from a final state) that names both states. `what` is the
// thing: "trial 7", "study 'digits'".
absl::Status CheckMove(std::string_view what, StudyState from, StudyState to);
absl::Status CheckMove(std::string_view what, Driver driver, TrialState from, TrialState to);
absl::Status CheckMove(std::string_view what, AttemptState from, AttemptState to);

}  // namespace vernier::study
