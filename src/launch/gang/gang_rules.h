#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "src/jobs/failure.h"
#include "src/launch/last_words.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

// Decides when a gang has ended, and how. Pure functions of observations, so that a restarted daemon decides the same.
// Why these rules: docs/adr/0022-restarts-and-reruns.md. Supervisors restart replicas
// (src/jobs/replica_exit.h says when); here a replica has ended only when it will not be restarted.
//
//   1. The primary's end is the gang's end: exit code 0 is success, whatever the others do.
//   2. When a gang fails, the replica that failed first is to blame: a chief that lost its peer reports only that loss,
//      and so does a worker that was restarted and finds nobody to join. Failures that follow one another within
//      `spread` form a chain, and count as one failure, the first; failures that were overcome by a restart belong to
//      it. A replica whose last words say that it lost a peer is not to blame while the chain has another failure: the
//      peer at fault may take longer to end. The replica to blame determines whether another attempt is worthwhile
//      (`transient`), and its last words begin the message.
//   3. A worker or parameter server that failed permanently while the primary goes on brings the gang down after
//      `patience`, since a primary that is about to end by itself knows better; at once if the primary failed first and
//      was restarted. A worker's exit with 0 has no effect. An evaluator's end never has, since training goes on
//      without it. In a gang in which only the primary counts, no other end matters, and the primary's is final at
//      once.
//   4. After a permanent failure of the primary the decision waits for `settling`: a peer may have failed before, and
//      its record may not be on disk yet. If all that is known is a lost peer, that peer gets its `patience`.
//   5. A replica whose supervisor is gone without a record is lost, and the gang with it; so is one whose records are
//      gone.
//   6. The time limit counts from the first start of the primary.
//
// A verdict is final: events while it is carried out change nothing.
namespace vernier::launch {

struct ReplicaObservation {
  enum class Phase {
    kNotStarted,  // No supervisor has taken charge of it.
    kStarting,    // A supervisor has; the program does not run yet.
    kRunning,
    kOrphaned,  // It was started, and its records are gone; processes of it may still run.
    kEnded,     // No process of it is left.
    kGone,      // Neither a supervisor nor a record of its end.
  };
  // A run of the program that was followed by another.
  struct Run {
    jobs::ReplicaExit exit;
    absl::Time started;
    absl::Time ended;
    absl::Duration cpu_time;
    std::int64_t peak_memory_bytes = 0;
    std::optional<LastWords> words;  // Of a run that failed by its own doing; unset: not read.
  };
  Phase phase = Phase::kNotStarted;
  // The last run: only `started` while it runs, all of them once it has ended.
  jobs::ReplicaExit exit;
  absl::Time started;
  absl::Time ended;
  absl::Duration cpu_time;
  std::int64_t peak_memory_bytes = 0;
  std::optional<LastWords> words;
  std::optional<GpuUse> gpu;  // Of all runs; unset: no GPU, or not sampled.
  std::vector<Run> earlier;   // Earlier runs in order, one for each restart.
};

inline bool IsDown(const ReplicaObservation& replica) {
  return replica.phase == ReplicaObservation::Phase::kEnded ||
         replica.phase == ReplicaObservation::Phase::kGone;
}

// Supervisors record times of the system's clock, which may jump. Clamps the times that are new in `now` to the
// interval in which they must lie: between the previous observation, `since`, or a little before it, and `until`. Times
// that `before` already has are kept.
void BoundTimes(const ReplicaObservation& before,
                absl::Time since,
                absl::Time until,
                ReplicaObservation& now);

// The properties of a gang that the rules depend on. The first replica is the primary.
struct GangTraits {
  struct Replica {
    std::string role;
    std::int32_t index = 0;
  };
  std::vector<Replica> replicas;
  std::optional<absl::Duration> time_limit;
  bool primary_alone = false;  // The ends of other replicas have no effect.
  bool lenient = false;        // How exit statuses are read: RestartPolicy.
  absl::Duration patience;
  absl::Duration settling;
  absl::Duration spread;
};

// How a gang ends: SUCCEEDED, FAILED, STOPPED or LOST.
struct GangEnd {
  AttemptState state = AttemptState::kStopped;
  FailureClass failure = FailureClass::kNone;
  bool transient = false;  // Another attempt may succeed.
  std::string message;
  absl::Time time;
  friend bool operator==(const GangEnd&, const GangEnd&) = default;
};

// Decides by the rules above. Nothing: the gang goes on.  REQUIRES: as many observations as replicas.
std::optional<GangEnd> Decide(const GangTraits& gang,
                              std::span<const ReplicaObservation> replicas,
                              absl::Time now);

// The gang's state: STARTING until every replica has a supervisor and the primary runs; RUNNING until all are down;
// then the verdict's.
GangStatus Describe(const GangTraits& gang,
                    std::span<const ReplicaObservation> replicas,
                    const std::optional<GangEnd>& gang_end);

}  // namespace vernier::launch
