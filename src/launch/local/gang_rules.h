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

// When a gang is over, and what became of it. Pure functions of what was observed. Replicas that are worth it are started
// again by their supervisors (src/jobs/replica_exit.h says which); here one has ended once it will not be.
//
//   1. The primary's end is the gang's end: exit code 0 is success, whatever the others do.
//   2. When a gang fails, the replica that failed first is to blame: a chief that lost its peer says only that, and so does
//      a worker that was started again and finds nobody to join. Failures that follow one another within a while (`spread`)
//      are one failure, the first; one that its replica has got over by a restart counts here too. A replica that ended
//      because it had lost a peer, as its last words say, is not to blame while another of these failures is something
//      else: who fails may take its time to end, and its peers are gone before it. The one to blame also says whether
//      another attempt is worth it (`transient`), and its last words begin the message.
//   3. A worker or parameter server that failed while the primary goes on brings the gang down after a while (`patience`):
//      a primary that is about to end by itself, well or badly, knows better. At once, if the primary failed first and was
//      started again. One that exits 0 means nothing. An evaluator's end means nothing at all: training does without it.
//      In a gang of which the primary alone counts, nobody else's end means anything, and its own is final at once.
//   4. A primary that failed for good is heard to the end (`settling`): a peer may have failed before it, and its record
//      be still on its way to the disk. If all that is known is that it lost a peer, that peer gets its `patience`.
//   5. A replica whose supervisor is gone without a record is lost, and the gang with it; so is one whose records are gone.
//   6. The time limit counts from the first start of the primary.
//
// A verdict is final: what happens while it is carried out changes nothing.
namespace vernier::launch {

struct Observation {
  enum class Phase {
    kNotStarted,  // No supervisor has taken it on.
    kStarting,    // A supervisor has; the program does not run yet.
    kRunning,
    kOrphaned,  // It was taken on, and its records are gone; something of it may still run.
    kEnded,     // And nothing of it is left.
    kGone,      // Neither a supervisor nor a record of its end.
  };
  // A run of the program that was over before another began.
  struct Run {
    jobs::ReplicaExit exit;
    absl::Time started;
    absl::Time ended;
    absl::Duration cpu_time;
    std::int64_t peak_memory_bytes = 0;
    std::optional<LastWords> words;  // Of one that failed by its own doing; unset: not read.
  };
  Phase phase = Phase::kNotStarted;
  // The last run: of a running one `started`, of an ended one all of it.
  jobs::ReplicaExit exit;
  absl::Time started;
  absl::Time ended;
  absl::Duration cpu_time;
  std::int64_t peak_memory_bytes = 0;
  std::optional<LastWords> words;
  std::optional<GpuUse> gpu;  // Of all runs; unset: it has no GPU, or nobody looked.
  std::vector<Run> earlier;   // In order: as many as there were restarts.
};

inline bool IsDown(const Observation& replica) {
  return replica.phase == Observation::Phase::kEnded || replica.phase == Observation::Phase::kGone;
}

// Supervisors note the time of the system's clock, which may jump. What is new in `now` has happened since somebody looked
// last, `since`, or a little before, and until `until`; its times are put there. What `before` knows stays.
void BoundTimes(const Observation& before, absl::Time since, absl::Time until, Observation& now);

// What the rules need to know of a gang. The first replica is the primary.
struct GangTraits {
  struct Replica {
    std::string role;
    std::int32_t index = 0;
  };
  std::vector<Replica> replicas;
  std::optional<absl::Duration> time_limit;
  bool primary_alone = false;  // The ends of all others mean nothing.
  bool lenient = false;        // How a program's own status is read: RestartPolicy.
  absl::Duration patience;
  absl::Duration settling;
  absl::Duration spread;
};

// How a gang ends: SUCCEEDED, FAILED, STOPPED or LOST.
struct Verdict {
  AttemptState state = AttemptState::kStopped;
  FailureClass failure = FailureClass::kNone;
  bool transient = false;  // Another attempt may do better.
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
