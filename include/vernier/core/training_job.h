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

// kPrimary is the replica whose end decides: "chief", or "master" where the program knows TensorFlow 1 only.
enum class Role { kPrimary, kWorker, kParameterServer, kEvaluator };

// What one replica asks of its host.
struct Resources {
  double cpus = 0;                // 0: not asked; shares what the host has.
  std::int64_t memory_bytes = 0;  // 0: not asked.
  std::int32_t gpus = 0;
  std::string gpu_type;  // "" any.
  // 0: whole devices, which nobody else gets. Else so much memory of each of them, and others may have the rest.
  std::int64_t gpu_memory_bytes = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Where the value of an environment variable is read when a program starts, so that it stands in no store, log or export.
// Exactly one is set.
struct SecretSource {
  // A file on the host of the program: absolute, or "~/…" of the server's user.
  std::string from_file;
  std::string name;  // A file in the server's folder of secrets.
  friend bool operator==(const SecretSource&, const SecretSource&) = default;
};

// All replicas of one role.
struct ReplicaSpec {
  std::int32_t count = 1;
  std::vector<std::string> command;  // Empty: the job's.
  std::vector<std::string> args;     // Appended to the command, before the tuned parameters.
  std::map<std::string, std::string> env;
  std::map<std::string, SecretSource> secrets;  // Variables, too; none is in env.
  std::string directory;                        // Working directory; empty: the job's.
  std::string image;  // Container image; empty: the job's. Needs one of the job's.
  Resources resources;
  std::string machine_type;  // The catalogue's name for `resources`; empty: it has none.
  friend bool operator==(const ReplicaSpec&, const ReplicaSpec&) = default;
};

// A Python module that is run as the program, in an environment made for its packages.
struct PythonProgram {
  std::string module;  // "trainer.task"
  // Archives, folders, or what an index names; installed in this order.
  std::vector<std::string> packages;
  std::string runtime;  // A named environment of the server's; empty: its default.
  friend bool operator==(const PythonProgram&, const PythonProgram&) = default;
};

// The files of a program as they were when the study was submitted. Every replica unpacks them into a folder of its own and
// runs there, so that edits made since reach nobody.
struct CodeSnapshot {
  std::string archive;  // A gzipped tar file: a path, or a file:// URI, on the server's host.
  std::string sha256;   // Of the archive, 64 hexadecimal digits; empty: the server fills it in.
  std::string folder;   // The client's, while nothing was sent yet: then archive is empty.
  friend bool operator==(const CodeSnapshot&, const CodeSnapshot&) = default;
};

// What the end of a replica by its own status means. By the strict reading such a failure is permanent; by the lenient
// one it may pass: the replica is restarted. Ends from outside may pass by both.
enum class FailureReading { kStrict, kLenient };

// How often what may pass is tried again: docs/guides/training_jobs.md.
struct RestartPolicy {
  FailureReading reading = FailureReading::kStrict;
  std::int32_t replica = 5;   // Restarts of each replica, in each attempt.
  std::int32_t job = 3;       // Attempts after the first.
  std::int32_t internal = 2;  // Of them, because of errors of the service itself.
  friend bool operator==(const RestartPolicy&, const RestartPolicy&) = default;
};

// How a program is given the value of a parameter.
enum class ArgumentStyle {
  kOption,      // --lr=0.1
  kSeparate,    // --lr 0.1
  kFlag,        // --nesterov if true, else nothing
  kAbsentFlag,  // --no-nesterov if false, else nothing
  kPositional,  // 0.1
  kAssignment,  // lr=0.1
  kVariable,    // LR=0.1 in the environment
  kFile,        // Only in the JSON file that {parameters.json} stands for.
};

// How a program is given one parameter.
struct ParameterArgument {
  ArgumentStyle style = ArgumentStyle::kOption;
  std::string name;  // "--learning_rate", "LEARNING_RATE"; empty: made from the parameter's name.
  friend bool operator==(const ParameterArgument&, const ParameterArgument&) = default;
};

// How to try one point: a program started as several replicas that find each other.
//
// Exactly one of command, python and image says what is run; a command may go with an image, in place of its entry point.
struct TrainingJob {
  std::vector<std::string> command;
  std::optional<PythonProgram> python;
  std::string image;  // Container image in which every replica runs; empty: none does.
  std::vector<std::string> args;
  // How the program is given parameters that no placeholder names: each by `argument_style`, except for those in `arguments`.
  ArgumentStyle argument_style = ArgumentStyle::kOption;
  std::map<std::string, ParameterArgument> arguments;  // By parameter.
  std::map<std::string, std::string> env;
  std::map<std::string, SecretSource> secrets;  // Variables, too; none is in env.
  std::optional<CodeSnapshot> code;
  // Empty: where the study file is, or the server's own; with an image, the image's own. With code it is below its folder,
  // and a job given as a training input runs in an empty folder of each replica's own.
  std::string working_directory;
  std::map<Role, ReplicaSpec> replicas = {{Role::kPrimary, ReplicaSpec{}}};
  std::string primary_name = "chief";  // Or "master".
  std::string job_directory;  // --job-dir, with the trial's number appended; empty: not passed.
  std::optional<absl::Duration> time_limit;  // Of one attempt, from RUNNING.
  // Of a trial with all of its attempts, from its first RUNNING; and from its creation until then.
  std::optional<absl::Duration> trial_limit;
  std::optional<absl::Duration> wait_limit;
  // Between two measurements, and from RUNNING to the first.
  std::optional<absl::Duration> progress_limit;
  // A trial that reports NaN or an infinity for an objective so many times in a row is ended.
  std::optional<std::int32_t> nan_limit;
  absl::Duration grace = absl::Seconds(10);  // Between TERM and KILL.
  // Of what each replica of an attempt prints, at most so much is kept: the beginning and the end.
  std::int64_t output_bytes = std::int64_t{256} << 20;
  std::int32_t priority = 0;  // 0 to 1000; gangs of a higher one are placed first.
  RestartPolicy restarts;
  std::string region;  // Which of the server's host groups; empty: its default.
  // The job as AI Platform Training's API says it, if that is how it was given. What it comes to is in the fields above
  // once the job was resolved (src/jobs/resolution.h).
  std::optional<TrainingInput> input;
  friend bool operator==(const TrainingJob&, const TrainingJob&) = default;
};

// "chief" (or the job's own name for it), "worker", "ps", "evaluator".
std::string RoleName(Role role, const TrainingJob& job);
// The role of that name: "chief" and "master" are both the primary.
std::optional<Role> FindRole(std::string_view name);

// Whether every replica runs in a folder of its own, which holds its code, if it has any, and nothing else at first.
bool RunsInOwnFolder(const TrainingJob& job);

// Whether its replicas run in container images, by its own fields or by what its input says.
bool RunsImages(const TrainingJob& job);

}  // namespace vernier
