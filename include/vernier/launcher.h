#pragma once

#include <cstdint>
#include <functional>
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

// One replica of a gang to be placed.
struct ReplicaRequest {
  std::string role;
  std::int32_t index = 0;
  // Requested; also the limits of the replica, where the host can enforce them.
  Resources resources;
  friend bool operator==(const ReplicaRequest&, const ReplicaRequest&) = default;
};

// Software that must be on the host before a gang can start there.
struct GangNeeds {
  std::optional<PythonProgram> python;  // Packages to install.
  std::string directory;                // Base of relative paths of packages.
  std::vector<std::string> images;      // Container images, each once.
  friend bool operator==(const GangNeeds&, const GangNeeds&) = default;
};

// A gang to be placed: all of its replicas or none.
struct GangRequest {
  AttemptId id;
  std::string study;    // Name, for people.
  std::string cluster;  // Name of a cluster of the server. Empty: the default cluster.
  std::vector<ReplicaRequest> replicas;
  std::int32_t priority = 0;  // 0 to 1000, higher first.
  absl::Time queued;  // Start of the wait; among equal priorities, the longest wait comes first.
  // Longest time that it may run, including the time to stop it. Unset: no limit.
  std::optional<absl::Duration> time_limit;
  // Number of gangs of the study that may run at once. A host that scales gangs down leaves room for the others.
  std::int32_t parallel = 1;
  GangNeeds needs;
  friend bool operator==(const GangRequest&, const GangRequest&) = default;
};

// A gang that waits for room or for its software.
struct QueuedGang {
  AttemptId id;
  std::string study;  // Name, for people.
  std::int32_t priority = 0;
  absl::Time queued;
  std::string needs;   // "4 cpus, 8 GiB of memory, 2 T4".
  std::string reason;  // Why it waits, one sentence.
  // Latest time of its start, provided that running gangs keep their time limits and no more urgent gang arrives.
  // Unset: unknown.
  std::optional<absl::Time> start_by;
};

// The devices of one type that a node has.
struct NodeDevices {
  std::string type;  // Empty: unspecified.
  std::int64_t count = 0;
  std::int64_t free = 0;    // Number of devices without any user.
  std::int64_t shared = 0;  // Number of devices whose memory is partly reserved.
};

// A machine that gangs are placed on, with its free resources.
struct Node {
  std::string name;
  double cpus = 0;
  double free_cpus = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_memory_bytes = 0;
  std::vector<NodeDevices> devices;  // By type.
};

// Room that was reserved for a gang.
struct PlacedGang {
  Placement placement;    // One for each replica, in the order of the request.
  std::string directory;  // Folder of the attempt's logs and records; absolute.
};

// The container that a replica runs in. A launcher without containers refuses to start it: InvalidArgument.
struct ReplicaContainer {
  std::string image;
  // True: the replica's argv is the whole command line. False: argv is passed to the entry point of the image; if argv
  // is empty, the image's default arguments are.
  bool replaces_entry_point = false;
  std::string directory;  // Working directory in the container. Empty: that of the image.
  // Folders of the host to mount under the same path, besides the replica's own. Absolute; created if missing.
  std::vector<std::string> mounts;
  friend bool operator==(const ReplicaContainer&, const ReplicaContainer&) = default;
};

// One replica, ready to start.
struct ReplicaProgram {
  std::string role;
  std::int32_t index = 0;
  std::vector<std::string> argv;  // argv[0] is looked up on PATH.
  std::optional<ReplicaContainer> container;
  // argv[0] is replaced by the interpreter of the gang's Python environment.
  bool runs_python = false;
  // Variables in addition to the launcher's environment; in a container, to that of the image.
  std::map<std::string, std::string> env;
  // More variables, whose values are read when the program starts. The launcher must not record the values.
  std::map<std::string, SecretSource> secrets;
  std::string directory;             // Working directory.
  std::vector<std::string> folders;  // Created before the program starts; absolute.
  // An archive to unpack into `folder`, one of `folders`, before the first start of the program.
  struct Code {
    std::string archive;
    std::string folder;
    friend bool operator==(const Code&, const Code&) = default;
  };
  std::optional<Code> code;
  // Files to write into the replica's own folder before the program starts: content by absolute path.
  std::map<std::string, std::string> files;
  // Value of CLOUD_ML_HP_METRIC_FILE: the file that cloudml-hypertune writes.
  std::string metric_file;
  // File of the captured output: docs/formats/attempt_directory.md.
  std::string log_file;
};

// A placed gang with its programs, ready to start.
struct GangProgram {
  AttemptId id;
  PlacedGang placed;
  std::vector<ReplicaProgram> replicas;  // replicas[0] is the primary: when it ends, the gang ends.
  // Packages of the gang's Python environment (GangNeeds::python).
  std::optional<PythonProgram> python;
  std::optional<absl::Duration> time_limit;
  // Which failures of a replica are temporary, and how often the launcher restarts a replica after one, under the same
  // address. Whether the whole job is run again is decided by the engine.
  RestartPolicy restarts;
  absl::Duration grace;  // Time between SIGTERM and SIGKILL.
  // Bytes of output to keep of each replica at most: the beginning and the end.
  std::int64_t output_bytes = std::int64_t{256} << 20;
};

// State of an attempt. SUCCEEDED, FAILED, STOPPED and LOST only when every replica is down.
struct GangStatus {
  AttemptState state = AttemptState::kStarting;
  FailureClass failure = FailureClass::kNone;
  // The failure is temporary, so that the engine may run the whole job again. True for errors of the launcher and for
  // programs that were ended from outside; false for a program that failed by itself.
  bool transient = false;
  std::string message;
  std::vector<ReplicaResult> replicas;
  // Why output of a replica is missing beyond the limit of `output_bytes`, for instance a full disk. Empty: none is.
  // The engine runs an attempt again if it succeeded but its metrics may be among the lost output.
  std::string lost_output;
};

// Runs gangs of replicas. Vernier implements it for this host (local_launcher.h); implement it to run trials elsewhere
// (docs/guides/writing_a_launcher.md). The life of an attempt:
//
//   Prepare(request)  until OK: software is on the host     Check(id)    until the gang has ended
//   Place(request)    until OK: room is reserved            Stop(id)     to end it early; then Check until it is down
//   Start(program)    until OK: the replicas start          Release(id)  the room is free again
//
// Threads: the engine calls it from one thread, for all studies, so every call must return at once. CheckFits, Nodes,
// Queue and WhyHeld are called from any thread. Gangs may outlive the process; Adopt takes them back.
class Launcher {
 public:
  virtual ~Launcher() = default;

  // Whether the gang could run here if nothing else were running.  InvalidArgument: it could not; the message says why.
  virtual absl::Status CheckFits(const GangRequest& gang) const = 0;

  // Fetches the software that the gang needs, in the background, without reserving room. OK once it is there. The
  // default needs nothing.
  // Unavailable, ResourceExhausted: not yet; the message says what is in progress. The gang is now in the queue: the
  // engine calls again, or calls Release.  InvalidArgument: never, because of the job.  Any other error: never, because
  // of this side. The trial fails with the message.
  virtual absl::Status Prepare(const GangRequest& /*gang*/) { return absl::OkStatus(); }

  // Reserves room for the whole gang: hosts, ports, devices. A launcher that learns its hosts only once the gang runs
  // leaves hosts empty; MakeGangProgram then writes stand-ins into arguments and variables, which the launcher replaces
  // (src/jobs/layout.h).
  // ResourceExhausted: not now; the message says what it waits for ("needs 4 cpus, 2 free"). The gang is now in the
  // queue, by priority, then age: the engine calls again until it is placed, or calls Release.  Unavailable: unknown
  // now; as ResourceExhausted.  FailedPrecondition: the attempt is placed already.  Any other error: never; the trial
  // fails with the message.
  virtual absl::StatusOr<PlacedGang> Place(const GangRequest& gang) = 0;

  // Starts the replicas of a placed gang. Idempotent: a replica that was already started under this id, also by an
  // earlier process, is not started again.
  // OK, without effect, if Stop was called before.
  // ResourceExhausted: not now, for instance because a disk is full; the engine calls again.  NotFound: as Check.  Any
  // other error fails the attempt.
  virtual absl::Status Start(const GangProgram& gang) = 0;

  // Takes back an attempt that an earlier process placed: reserves its room again, and returns its state as Check does.
  // NotFound: no replica was ever started. The room is reserved nevertheless, and Start may be called.
  virtual absl::StatusOr<GangStatus> Adopt(const GangRequest& gang, const PlacedGang& placed) = 0;

  // The current state of the attempt.  NotFound: it was neither placed nor adopted by this launcher.
  virtual absl::StatusOr<GangStatus> Check(const AttemptId& id) = 0;

  // Begins to stop every replica: SIGTERM, the grace, SIGKILL, each to the whole process group. Check returns STOPPED
  // once all are down; a gang that was not started is not started any more. OK, without effect, if the attempt has
  // already ended.  NotFound: as Check.
  virtual absl::Status Stop(const AttemptId& id) = 0;

  // Frees the room of an attempt that has ended or will not be started; a waiting gang leaves the queue. The records
  // stay in the attempt's folder. OK if there is no such attempt.  FailedPrecondition: it is running; call Stop first.
  virtual absl::Status Release(const AttemptId& id) = 0;

  // Registers a function that the launcher calls when the answer of Check, or of Prepare or Place for a waiting gang,
  // may have changed. It may be called from any thread, also needlessly, and returns at once. False, the default: this
  // launcher does not report changes; the engine polls it instead.
  // The engine calls Watch before any other function. If it returned true, it calls it at the end with an empty
  // function: `changed` must not be called after that has returned.
  virtual bool Watch(const std::function<void(const AttemptId& id)>& /*changed*/) { return false; }

  // Why no gang is placed at present, whatever its size, as one sentence ("a disk is nearly full"). Empty: gangs are
  // placed as room allows. From any thread.
  virtual std::string WhyHeld() { return ""; }

  // The machines, and the waiting gangs in the order of the queue, for users to see. May be empty if unknown. From any
  // thread.
  virtual std::vector<Node> Nodes() { return {}; }
  virtual std::vector<QueuedGang> Queue() { return {}; }
};

}  // namespace vernier
