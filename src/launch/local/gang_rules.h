#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "src/jobs/failure.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

// When a gang is over, and what became of it. Pure functions of what was observed.
//
//   1. The primary's end is the gang's end: exit code 0 is success, whatever the others do.
//   2. When the primary failed, the replica that failed first is to blame: a chief that lost its peer says only that.
//   3. A worker or parameter server that failed while the primary goes on brings the gang down after a while (`patience`):
//      by the strict reading its failure is permanent, but a primary that is about to end by itself, well or badly, knows
//      better. One that exits 0 means nothing. An evaluator's end means nothing at all: training does without it.
//   4. A replica whose supervisor is gone without a record is lost, and the gang with it.
//   5. The time limit counts from the start of the primary.
//
// A verdict is final: what happens while it is carried out changes nothing.
namespace vernier::launch {

struct Observation {
  enum class Phase {
    kNotStarted,  // No supervisor has taken it on.
    kStarting,    // A supervisor has; the program does not run yet.
    kRunning,
    kEnded,  // And nothing of it is left.
    kGone,   // Neither a supervisor nor a record of its end.
  };
  Phase phase = Phase::kNotStarted;
  jobs::ReplicaExit exit;  // Of an ended one.
  absl::Time started;      // Of a running or ended one.
  absl::Time ended;        // Of an ended one.
};

inline bool IsDown(const Observation& replica) {
  return replica.phase == Observation::Phase::kEnded || replica.phase == Observation::Phase::kGone;
}

// What the rules need to know of a gang. The first replica is the primary.
struct GangTraits {
  struct Replica {
    std::string role;
    std::int32_t index = 0;
  };
  std::vector<Replica> replicas;
  std::optional<absl::Duration> time_limit;
  absl::Duration patience;
};

// How a gang ends: SUCCEEDED, FAILED, STOPPED or LOST.
struct Verdict {
  AttemptState state = AttemptState::kStopped;
  FailureClass failure = FailureClass::kNone;
  std::string message;
  absl::Time time;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// Nothing while the gang is to go on.  REQUIRES: as many observations as replicas.
std::optional<Verdict> Decide(const GangTraits& gang,
                              std::span<const Observation> replicas,
                              absl::Time now);

// STARTING until every replica has a supervisor and the primary runs; RUNNING until all are down; then the verdict's.
GangStatus Describe(const GangTraits& gang,
                    std::span<const Observation> replicas,
                    const std::optional<Verdict>& verdict);

}  // namespace vernier::launch
