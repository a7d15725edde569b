#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

// What a launcher says to a Slurm cluster, and what it hears from it.
namespace vernier::launch::slurm {

// Equal tasks of a job. A job of several components is a heterogeneous one.
struct Component {
  std::int32_t tasks = 1;
  double cpus = 1;                // Of each task; rounded up to whole CPUs.
  std::int64_t memory_bytes = 0;  // Of each task; 0: the partition's default.
  std::int32_t gpus = 0;          // Of each task.
  std::string gpu_type;           // As gres.conf names it; empty: any.
};

// What a site asks of every job; empty: Slurm's default.
struct SiteOptions {
  std::string partition;
  std::string account;
  std::string qos;
  std::string constraint;
  std::string reservation;
  std::vector<std::string> arguments;  // Further arguments of sbatch, for each component.
  friend bool operator==(const SiteOptions&, const SiteOptions&) = default;
};

// Slurm sends a signal to every process of a task, its supervisor's program too. This one does nothing to a program that
// has no use for it (signal(7)). SIGTERM would reach programs twice, once from Slurm and once from the supervisor, and
// end what they start to save their state; and srun and slurmrestd take it for an order to end the whole job.
inline constexpr char kStopSignal[] = "URG";

// Who in a job takes its signals: the tasks of its step, or its batch script, where that is the only task itself.
enum class Listener { kStep, kScript };

// A job to submit.
struct BatchJob {
  std::string name;
  std::string comment;  // By which it is found again; unique.
  std::string script;   // Path of the batch script, which every node can read.
  std::string output;   // Path of what the script itself prints.
  std::string directory;
  std::vector<Component> components;
  std::optional<absl::Duration> time_limit;  // Rounded up to whole minutes, Slurm's unit.
  SiteOptions site;
  Listener listener = Listener::kStep;
};

// The job in Slurm's units, all rounded up.
std::int64_t WholeCpus(const Component& component);
// Of each of the task's CPUs, as the memory of tasks that share a node can only be asked for by CPU.
std::int64_t MegabytesPerCpu(const Component& component);
std::int64_t WholeMinutes(absl::Duration time_limit);
// The GPUs of a task: "2", or "a100:2".
std::string GpuText(const Component& component);
inline constexpr std::int64_t kMegabyte = 1 << 20;  // Slurm's unit of memory.

// Bytes of an answer, at most. It may list every job of the cluster, some 3.7 kB each in Slurm 22.05.
inline constexpr std::size_t kMostAnswer = std::size_t{256} << 20;

// Slurm's base states: https://slurm.schedmd.com/job_state_codes.html.
enum class JobState {
  kPending,
  kRunning,
  kSuspended,
  kCompleted,
  kCancelled,
  kFailed,
  kTimeout,
  kNodeFail,
  kPreempted,
  kBootFail,
  kDeadline,
  kOutOfMemory,
  kUnknown,  // One that later versions may have.
};
const char* JobStateName(JobState state);
// Whether a job in the state never runs again by itself.
bool IsOver(JobState state);

// One component of a job, as the controller knows it.
struct JobRecord {
  std::int64_t id = 0;
  std::int64_t leader =
      0;  // Id of the heterogeneous job's first component; that of the job itself if it is none.
  std::string comment;
  JobState state = JobState::kUnknown;
  bool is_completing = false;  // Ended, and something of it is still being cleaned up.
  std::string reason;  // Why it waits or ended, in Slurm's words: "Resources", "NonZeroExitCode".
  std::string nodes;   // "n[1-3]"; empty: not placed.
  int exit_code = 0;   // Of the batch script.
  int signal = 0;      // That ended it; 0: none.
  std::int32_t restarts = 0;  // How often Slurm has requeued it.
  // Of a job that waits: when the scheduler plans to start it, as far as it has a plan.
  std::optional<absl::Time> started;
  std::optional<absl::Time> ended;
  friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

// One node, and what of it is free.
struct NodeRecord {
  std::string name;
  std::string state;      // "idle", "mixed", "down", in small letters, without flags.
  bool is_usable = true;  // Neither down nor drained nor reserved for maintenance.
  std::int64_t cpus = 0;
  std::int64_t free_cpus = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_memory_bytes = 0;
  std::string reason;  // Why it is not usable.
  std::vector<std::string> partitions;
  struct Gpus {
    std::int64_t count = 0;
    std::int64_t used = 0;
    friend bool operator==(const Gpus&, const Gpus&) = default;
  };
  std::map<std::string, Gpus> gpus;  // By type; empty type: none was named.
  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

// A cluster's controller. Every call waits for its answer. Thread-safe.
//
// Errors of all calls: Unavailable, the controller does not answer, so that nothing is known; FailedPrecondition, no
// client of Slurm can be run, or its answer cannot be read.
class Slurm {
 public:
  virtual ~Slurm() = default;

  // The job's id, that of the first component.
  // InvalidArgument: the cluster can never run it; the message is Slurm's.
  // After Unavailable the job may have been accepted: look for its comment before it is submitted again.
  virtual absl::StatusOr<std::int64_t> Submit(const BatchJob& job) = 0;
  // Whether the cluster could run the job.  InvalidArgument: never.
  virtual absl::Status Test(const BatchJob& job) = 0;
  // Every job that the controller remembers, of all users.
  virtual absl::StatusOr<std::vector<JobRecord>> Jobs() = 0;
  // Tells the supervisors of the job's tasks to stop their programs: sends kStopSignal to the tasks of its steps, or else
  // to the batch script, which hands it on.  OK too if there is no such job.
  virtual absl::Status Stop(std::int64_t id, Listener listener) = 0;
  // Ends the job, in the queue or on its nodes: TERM, Slurm's KillWait, KILL.  OK too if there is no such job.
  virtual absl::Status Cancel(std::int64_t id) = 0;
  virtual absl::StatusOr<std::vector<NodeRecord>> Nodes() = 0;
};

}  // namespace vernier::launch::slurm
