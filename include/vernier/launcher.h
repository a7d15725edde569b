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

// One replica of a gang that is to be placed.
struct ReplicaRequest {
  std::string role;
  std::int32_t index = 0;
  Resources resources;  // Also what it is held to, where the host allows that.
  friend bool operator==(const ReplicaRequest&, const ReplicaRequest&) = default;
};

// What has to be on the host before a gang can start there.
struct GangNeeds {
  std::optional<PythonProgram> python;  // Its packages.
  std::string directory;                // What relative paths of packages are below.
  std::vector<std::string> images;      // Container images, each once.
  friend bool operator==(const GangNeeds&, const GangNeeds&) = default;
};

// A whole gang, to be placed all or not at all.
struct GangRequest {
  AttemptId id;
  std::string study;  // Name, for people.
  std::vector<ReplicaRequest> replicas;
  std::int32_t priority = 0;  // 0 to 1000, higher first.
  absl::Time queued;  // Since when it waits; of one priority, who waits longest comes first.
  // The longest that it will run, the time to stop it included.
  std::optional<absl::Duration> time_limit;
  // So many of its study run at once; a host that scales gangs down leaves room for them.
  std::int32_t parallel = 1;
  GangNeeds needs;
  friend bool operator==(const GangRequest&, const GangRequest&) = default;
};

// A gang that waits for room, or for what it needs.
struct QueuedGang {
  AttemptId id;
  std::string study;  // Name, for people.
  std::int32_t priority = 0;
  absl::Time queued;
  std::string needs;   // "4 cpus, 8 GiB of memory, 2 T4".
  std::string reason;  // Why it waits, one sentence.
  // When it starts at the latest, if what runs keeps its time limits and nothing more urgent comes. Nothing: not known.
  std::optional<absl::Time> start_by;
};

// The devices of one type that a node has.
struct NodeDevices {
  std::string type;  // Empty: of no particular type.
  std::int64_t count = 0;
  std::int64_t free = 0;    // Of which nobody has anything.
  std::int64_t shared = 0;  // Of which parts are taken.
};

// One machine that gangs are placed on, and what of it is free.
struct Node {
  std::string name;
  double cpus = 0;
  double free_cpus = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_memory_bytes = 0;
  std::vector<NodeDevices> devices;  // By type.
};

struct PlacedGang {
  Placement placement;    // In the order of the request.
  std::string directory;  // Where the attempt's logs and records go; absolute.
};

// The container that a replica runs in. A launcher that knows none refuses to start it: InvalidArgument.
struct ReplicaContainer {
  std::string image;
  // The replica's argv is the whole command line. Else the image's own entry point is given it; with an empty one, the
  // arguments that the image itself has for it.
  bool replaces_entry_point = false;
  std::string directory;  // Working directory in it; empty: the image's own.
  // Folders of the host that it sees under the same path, beside the replica's own. Absolute; made if they are not there.
  std::vector<std::string> mounts;
  friend bool operator==(const ReplicaContainer&, const ReplicaContainer&) = default;
};

// One replica, ready to start.
struct ReplicaProgram {
  std::string role;
  std::int32_t index = 0;
  std::vector<std::string> argv;  // argv[0] is looked up on PATH.
  std::optional<ReplicaContainer> container;
  bool runs_python = false;  // argv[0] stands for the interpreter of the gang's Python environment.
  // Added to the launcher's own environment; in a container, to the image's.
  std::map<std::string, std::string> env;
  // The same, read when the program starts: no record of the launcher's has their values.
  std::map<std::string, SecretSource> secrets;
  std::string directory;             // Working directory.
  std::vector<std::string> folders;  // Made before the program starts; absolute.
  // An archive that is unpacked into a folder, one of the above, before the program starts for the first time.
  struct Code {
    std::string archive;
    std::string folder;
    friend bool operator==(const Code&, const Code&) = default;
  };
  std::optional<Code> code;
  // Files that are there before the program starts, in the replica's own folder: content by absolute path.
  std::map<std::string, std::string> files;
  std::string metric_file;  // CLOUD_ML_HP_METRIC_FILE of this replica.
  // Where its captured output goes: docs/formats/attempt_directory.md.
  std::string log_file;
};

struct GangProgram {
  AttemptId id;
  PlacedGang placed;
  std::vector<ReplicaProgram> replicas;  // replicas[0] is the primary: its end is the gang's end.
  std::optional<PythonProgram> python;   // What is to be installed before they start.
  std::optional<absl::Duration> time_limit;
  // A replica that failed in a way that may pass is started again under the same address, so often; and which ways those
  // are. Whether the whole job is run again is the engine's business.
  RestartPolicy restarts;
  absl::Duration grace;
  std::int64_t output_bytes = std::int64_t{256} << 20;  // Of each replica, to be kept at most.
};

// What a launcher knows of an attempt. SUCCEEDED, FAILED, STOPPED and LOST only when every replica is down.
struct GangStatus {
  AttemptState state = AttemptState::kStarting;
  FailureClass failure = FailureClass::kNone;
  // The failure may pass: another attempt of the whole job is worth it. Errors of the launcher's own side are, as is what
  // somebody ended from outside; a program that says itself that it failed is not.
  bool transient = false;
  std::string message;
  std::vector<ReplicaResult> replicas;
  // Why some of what the replicas printed was not kept, for instance because the disk was full; empty: nothing is missing
  // but what `output_bytes` left out. An engine runs an attempt again that succeeded and may have printed its metrics there.
  std::string lost_output;
};

// Makes the replicas of attempts exist. Implemented by Vernier for this host, and by schedulers that embed Vernier.
//
// The engine calls it from one thread, for all studies: every call returns at once. Nodes, Queue and WhyHeld may be called from any
// thread. What a launcher started may outlive the process; Adopt takes it back.
class Launcher {
 public:
  virtual ~Launcher() = default;

  // Could the gang ever run here, with nothing else running?  InvalidArgument: never, and why.
  virtual absl::Status CheckFits(const std::vector<ReplicaRequest>& replicas) const = 0;

  // Begins to fetch what the gang needs, without reserving any room for it, and says how that goes.
  // OK: it is there.  Unavailable, ResourceExhausted: not yet; the message says what is going on. The gang is in the queue
  // from then on: ask again, or Release it.
  // InvalidArgument: never, because of the job; the message says why.  Anything else: never, because of this side.
  virtual absl::Status Prepare(const GangRequest& /*gang*/) { return absl::OkStatus(); }

  // Reserves room for the whole gang: hosts, ports, devices.
  // ResourceExhausted: not now; the message says what it waits for ("needs 4 cpus, 2 free"). From then on it has its
  // place in the queue, by priority, then age: ask again until it is placed, or Release it.
  // Unavailable: nobody can tell now; ask again, or Release it.  Anything else: never, and why.
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

  // Gives the room of an ended attempt back, or of one that was not started and now never will be; one that waits for
  // room leaves the queue. Its records stay in its directory.  FailedPrecondition: it runs; Stop it first.
  virtual absl::Status Release(const AttemptId& id) = 0;

  // Asks to be told when something may have changed: `changed` of an attempt for which Check may say something new, and of
  // one that waits for which Prepare or Place may; it may be called from any thread, at times more often than needed, and
  // returns at once. False: this launcher cannot tell, and is asked again and again. Called before all else, and with an
  // empty function at the end: nothing is called after that.
  virtual bool Watch(const std::function<void(const AttemptId& id)>& /*changed*/) { return false; }

  // Why no gang is placed at present, whatever room it needs, in one sentence: a disk is nearly full. Empty: gangs are placed
  // as there is room. From any thread.
  virtual std::string WhyHeld() { return ""; }

  // The machines that gangs are placed on, and the gangs that wait, in the order of the queue. A launcher that knows
  // nothing of them has none to tell of.
  virtual std::vector<Node> Nodes() { return {}; }
  virtual std::vector<QueuedGang> Queue() { return {}; }
};

}  // namespace vernier
