#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace vernier {

// kPrimary is the replica whose end decides: "chief", or "master" where the program knows TensorFlow 1 only.
enum class Role { kPrimary, kWorker, kParameterServer, kEvaluator };

// What one replica asks of its host.
struct Resources {
  double cpus = 1;
  std::int64_t memory_bytes = 0;  // 0: not asked.
  std::int32_t gpus = 0;
  std::string gpu_type;  // "" any.
  friend bool operator==(const Resources&, const Resources&) = default;
};

// All replicas of one role.
struct ReplicaSpec {
  std::int32_t count = 1;
  std::vector<std::string> command;  // Empty: the job's.
  std::vector<std::string> args;     // Appended to the command, before the tuned parameters.
  std::map<std::string, std::string> env;
  std::string directory;  // Working directory; empty: the job's.
  Resources resources;
  friend bool operator==(const ReplicaSpec&, const ReplicaSpec&) = default;
};

// How to try one point: a program started as several replicas that find each other.
struct TrainingJob {
  std::vector<std::string> command;
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  std::string working_directory;  // Empty: where the study file is, or the server's own.
  std::map<Role, ReplicaSpec> replicas = {{Role::kPrimary, ReplicaSpec{}}};
  std::string primary_name = "chief";  // Or "master".
  std::string job_directory;  // --job-dir, with the trial's number appended; empty: not passed.
  std::optional<absl::Duration> time_limit;  // Of one attempt, from RUNNING.
  absl::Duration grace = absl::Seconds(10);  // Between TERM and KILL.
  // Of what each replica of an attempt prints, at most so much is kept: the beginning and the end.
  std::int64_t output_bytes = std::int64_t{256} << 20;
  friend bool operator==(const TrainingJob&, const TrainingJob&) = default;
};

// "chief" (or the job's own name for it), "worker", "ps", "evaluator".
std::string RoleName(Role role, const TrainingJob& job);

}  // namespace vernier
