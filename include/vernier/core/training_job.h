#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "vernier/core/training_input.h"

namespace vernier {

// The part of a replica in a job. The end of the kPrimary replica ends the job; it is called "chief", or "master" for
// programs that know only TensorFlow 1.
enum class Role { kPrimary, kWorker, kParameterServer, kEvaluator };

// Resources that one replica requests.
struct Resources {
  double cpus = 0;                // 0: no request; shares the CPUs of the host.
  std::int64_t memory_bytes = 0;  // 0: no request.
  std::int32_t gpus = 0;          // Number of devices.
  std::string gpu_type;           // Empty: any.
  // Memory of each device. Other replicas may use the rest of the device. 0: whole devices.
  std::int64_t gpu_memory_bytes = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// File with the value of an environment variable. It is read when a program starts, so that no store, log or export
// contains the value. Exactly one field is set.
struct SecretSource {
  // A file on the host of the program: an absolute path, or "~/…" for the home of the server's user.
  std::string from_file;
  std::string name;  // The name of a file in the server's folder of secrets.
  friend bool operator==(const SecretSource&, const SecretSource&) = default;
};

// All replicas of one role.
struct ReplicaSpec {
  std::int32_t count = 1;
  std::vector<std::string> command;  // Empty: the job's.
  std::vector<std::string> args;     // Between the command and the tuned parameters.
  std::map<std::string, std::string> env;
  std::map<std::string, SecretSource> secrets;  // More variables, not in env.
  std::string directory;                        // Working directory. Empty: the job's.
  std::string image;  // Container image. Empty: the job's. The job must have one.
  Resources resources;
  std::string machine_type;  // Name of `resources` in the machine catalogue. Empty: none.
  friend bool operator==(const ReplicaSpec&, const ReplicaSpec&) = default;
};

// A Python module to run as the program, in a virtual environment with its packages.
struct PythonProgram {
  std::string module;  // "trainer.task"
  // Packages to install, in this order: archives, folders, or names in a package index.
  std::vector<std::string> packages;
  // Name of a Python runtime in the server's configuration. Empty: the default one.
  std::string runtime;
  friend bool operator==(const PythonProgram&, const PythonProgram&) = default;
};

// A copy of the program's files at the time of submission. Every replica unpacks it into a folder of its own and runs
// there, so that later edits have no effect on the study.
struct CodeSnapshot {
  std::string archive;  // A gzipped tar file: a path, or a file:// URI, on the server's host.
  std::string sha256;  // Hash of the archive, 64 hexadecimal digits. Empty: the server fills it in.
  std::string folder;  // Folder of the client, before the archive is made. Then `archive` is empty.
  friend bool operator==(const CodeSnapshot&, const CodeSnapshot&) = default;
};

// How to treat a replica that exits with a failure status: as a permanent failure (strict), or as a temporary one after
// which the replica is restarted (lenient). A replica that was ended from outside is restarted in both cases.
enum class FailureReading { kStrict, kLenient };

// How often temporary failures are retried: docs/guides/training_jobs.md. ADR 22 has the reasons for the defaults.
struct RestartPolicy {
  FailureReading reading = FailureReading::kStrict;
  std::int32_t replica = 5;   // Restarts of each replica in each attempt.
  std::int32_t job = 3;       // Attempts after the first one.
  std::int32_t internal = 2;  // Those among them that follow errors of the service itself.
  friend bool operator==(const RestartPolicy&, const RestartPolicy&) = default;
};

// The form in which a program gets the value of a parameter. Examples for the parameters lr and nesterov:
enum class ArgumentStyle {
  kOption,      // --lr=0.1
  kSeparate,    // --lr 0.1
  kFlag,        // --nesterov if true, else nothing
  kAbsentFlag,  // --no-nesterov if false, else nothing
  kPositional,  // 0.1
  kAssignment,  // lr=0.1
  kVariable,    // LR=0.1 in the environment
  kFile,        // Only in the JSON file that replaces {parameters.json}.
};

// How a program gets one parameter.
struct ParameterArgument {
  ArgumentStyle style = ArgumentStyle::kOption;
  // "--learning_rate", "LEARNING_RATE". Empty: derived from the parameter's name.
  std::string name;
  friend bool operator==(const ParameterArgument&, const ParameterArgument&) = default;
};

// How to run a trial: a program, started as one or several replicas that find each other.
//
//   TrainingJob job;
//   job.command = {"python3", "train.py"};           // Started with --lr=0.01 for the parameter lr.
//   job.replicas[Role::kWorker] = {.count = 2};      // Besides the chief.
//
// The program is given by `command`, `python` or `image`. With both, `command` replaces the entry point of the image.
struct TrainingJob {
  std::vector<std::string> command;
  std::optional<PythonProgram> python;
  std::string image;  // Container image of every replica. Empty: no containers.
  std::vector<std::string> args;
  // How the program gets the parameters that no placeholder names: by `argument_style`, unless `arguments` has them.
  ArgumentStyle argument_style = ArgumentStyle::kOption;
  std::map<std::string, ParameterArgument> arguments;  // By parameter.
  std::map<std::string, std::string> env;
  std::map<std::string, SecretSource> secrets;  // More variables, not in env.
  std::optional<CodeSnapshot> code;
  // Working directory. Empty: the folder of the study file, or that of the server; with an image, that of the image.
  // With `code`: a path below the folder of the code. A job given as a training input runs in an empty folder of each
  // replica.
  std::string working_directory;
  std::map<Role, ReplicaSpec> replicas = {{Role::kPrimary, ReplicaSpec{}}};
  std::string primary_name = "chief";  // Or "master".
  std::string job_directory;  // --job-dir, with the trial's number appended. Empty: not passed.
  // Limits; unset: no limit. One attempt, from RUNNING.
  std::optional<absl::Duration> time_limit;
  // A trial with all of its attempts, from its first RUNNING.
  std::optional<absl::Duration> trial_limit;
  // A trial before its first RUNNING, from its creation.
  std::optional<absl::Duration> wait_limit;
  // Time between two measurements, and from RUNNING to the first one.
  std::optional<absl::Duration> progress_limit;
  // Number of reports in a row with NaN or an infinity for an objective, after which the trial is ended.
  std::optional<std::int32_t> nan_limit;
  absl::Duration grace = absl::Seconds(10);  // Time between SIGTERM and SIGKILL.
  // Bytes of output to keep of each replica of an attempt at most: the beginning and the end. At least 1 MiB.
  std::int64_t output_bytes = std::int64_t{256} << 20;
  // The program goes on where it was when it is started again in a later attempt: it saves checkpoints. Stopping rules then
  // pause trials instead of ending them, and may take that back.
  bool pausable = false;
  std::int32_t priority = 0;  // 0 to 1000. Gangs with a higher one are placed first.
  RestartPolicy restarts;
  std::string cluster;  // Name of a cluster of the server. Empty: the default cluster.
  std::string region;   // Name of a host group of the server. Empty: the default group.
  // The job in the format of AI Platform Training's API, if it was given so. The server derives the fields above from
  // it (src/jobs/resolution.h).
  std::optional<TrainingInput> input;
  friend bool operator==(const TrainingJob&, const TrainingJob&) = default;
};

// Returns "chief" (or primary_name), "worker", "ps" or "evaluator".
std::string RoleName(Role role, const TrainingJob& job);
// Returns the role with this name; nullopt if there is none. "chief" and "master" are both the primary.
std::optional<Role> FindRole(std::string_view name);

// Whether every replica runs in a folder of its own, which at first contains only the job's code.
bool RunsInOwnFolder(const TrainingJob& job);

// Whether replicas run in container images, according to the job or its input. Images of built-in algorithms of AI
// Platform do not count: trainers of Vernier replace them.
bool RunsImages(const TrainingJob& job);

}  // namespace vernier
