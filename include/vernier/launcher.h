#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/ids.h"
#include "vernier/core/training_job.h"
#include "vernier/core/trial.h"

namespace vernier {

// One replica of a gang that is to be placed.
struct ReplicaRequest {
  std::string role;
  std::int32_t index = 0;
  Resources resources;
};

// A whole gang, to be placed all or not at all.
struct GangRequest {
  AttemptId id;
  std::string study;  // Name, for people.
  std::vector<ReplicaRequest> replicas;
  std::int32_t priority = 0;  // 0 to 1000, higher first.
  absl::Time queued;  // Since when it waits; of one priority, who waits longest comes first.
  std::optional<absl::Duration> time_limit;  // The longest that it will run.
};

struct PlacedGang {
  Placement placement;    // In the order of the request.
  std::string directory;  // Where the attempt's logs and records go; absolute.
};

// One replica, ready to start.
struct ReplicaProgram {
  std::string role;
  std::int32_t index = 0;
  std::vector<std::string> argv;           // argv[0] is looked up on PATH.
  std::map<std::string, std::string> env;  // Added to the launcher's own environment.
  std::string directory;                   // Working directory.
  std::string metric_file;                 // CLOUD_ML_HP_METRIC_FILE of this replica.
  // Where its captured output goes: docs/formats/attempt_directory.md.
  std::string log_file;
  Resources
      resources;  // What it is held to, where the host allows that. No limit of memory if none was asked.
};

struct GangProgram {
  AttemptId id;
  PlacedGang placed;
  std::vector<ReplicaProgram> replicas;  // replicas[0] is the primary: its end is the gang's end.
  std::optional<absl::Duration> time_limit;
  absl::Duration grace;
  std::int64_t output_bytes = std::int64_t{256} << 20;  // Of each replica, to be kept at most.
};

// What a launcher knows of an attempt. SUCCEEDED, FAILED, STOPPED and LOST only when every replica is down.
struct GangStatus {
  AttemptState state = AttemptState::kStarting;
  FailureClass failure = FailureClass::kNone;
  std::string message;
  std::vector<ReplicaResult> replicas;
};

// Makes the replicas of attempts exist. Implemented by Vernier for this host, and by schedulers that embed Vernier.
//
// The engine calls it from one thread, and never blocks on it for long: every call returns at once. What a launcher
// started may outlive the process; Adopt takes it back.
class Launcher {
 public:
  virtual ~Launcher() = default;

  // Could the gang ever run here, with nothing else running?  InvalidArgument: never, and why.
  virtual absl::Status CheckFits(const std::vector<ReplicaRequest>& replicas) const = 0;

  // Reserves room for the whole gang: hosts, ports, devices.
  // ResourceExhausted: not now; the message says what it waits for ("needs 4 cpus, 2 free").
  virtual absl::StatusOr<PlacedGang> Place(const GangRequest& gang) = 0;

  // Starts the replicas of a placed gang. Idempotent: what was started under this id before is not started again,
  // not even by an earlier process.
  // ResourceExhausted: not now, for instance because a disk is full; ask again.
  virtual absl::Status Start(const GangProgram& gang) = 0;

  // Takes back an attempt that an earlier process placed: reserves its room again and finds out what became of it.
  // NotFound: nothing of it was ever started; its room is reserved all the same, and Start may be called.
  virtual absl::StatusOr<GangStatus> Adopt(const GangRequest& gang, const PlacedGang& placed) = 0;

  // The attempt as it is now.  NotFound: neither placed nor adopted here.
  virtual absl::StatusOr<GangStatus> Check(const AttemptId& id) = 0;

  // Begins to stop every replica: TERM, grace, KILL, each to the whole process group. Check tells when it is done; the
  // state is then STOPPED. OK if it has ended already.
  virtual absl::Status Stop(const AttemptId& id) = 0;

  // Gives the room of an ended attempt back, or of one that was not started and now never will be. Its records stay in
  // its directory.  FailedPrecondition: it runs; Stop it first.
  virtual absl::Status Release(const AttemptId& id) = 0;
};

}  // namespace vernier
