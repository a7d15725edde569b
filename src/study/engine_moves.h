#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/trial.h"

namespace vernier::study {

// What the engine does to trials, and how it learns which need it. Errors as those of Trials.
class EngineMoves {
 public:
  virtual ~EngineMoves() = default;

  // Those that have not ended, or of which an attempt has not, in the order of their numbers.
  virtual absl::StatusOr<std::vector<Trial>> ListTrialsAtWork(StudyId id) const = 0;
  // Moves a trial along the table of state_machine.cc; `failure`, `message` with FAILED and CANCELLED. One that is paused
  // without any finite value has FAILED.
  virtual absl::StatusOr<Trial> Move(TrialId id,
                                     TrialState to,
                                     FailureClass failure,
                                     std::string_view message) = 0;
  // Records a new attempt in PLACED and moves the trial to PREPARING, durably, before anything is started.
  virtual absl::StatusOr<Trial> PlaceAttempt(TrialId id,
                                             const Placement& placement,
                                             std::string_view directory) = 0;
  // Records a state of the trial's last attempt. Repeating the same state is OK and records nothing, unless a replica of
  // a running one was restarted meanwhile.
  virtual absl::StatusOr<Trial> MoveAttempt(AttemptId id,
                                            AttemptState to,
                                            FailureClass failure,
                                            bool transient,
                                            std::string_view message,
                                            const std::vector<ReplicaResult>& replicas) = 0;
  // Studies::Tick in two steps, for a thread that must not wait. TickLoaded leaves alone what would have to be read from the
  // store first, which takes seconds for a large study: those are for Load, which does of one study what Tick does.
  struct Ticked {
    std::vector<StudyId> unfinished;  // In the order of their ids.
    std::vector<StudyId> unloaded;    // Maybe finished.
  };
  virtual absl::StatusOr<Ticked> TickLoaded() = 0;
  virtual absl::Status Load(StudyId id) = 0;
};

}  // namespace vernier::study
