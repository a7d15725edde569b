#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/clock.h"
#include "vernier/core/executor.h"
#include "vernier/launcher.h"

namespace vernier {

struct LocalLauncherOptions {
  // Attempts live in <runs_directory>/<study>/trial-<n>/attempt-<k> (docs/formats/attempt_directory.md). Created if missing.
  std::string runs_directory;
  // The program that looks after one replica. Empty: vernier-supervisor beside this program, or on PATH.
  std::string supervisor;
  // Variables of this process that programs of trials get besides their job's: names, "NAME*", "*" for all.
  std::vector<std::string> inherit_env = {"*"};
  // Folder of the files that a job names as {secret: NAME}. Empty: it may name none.
  std::string secrets_directory;
  // What training jobs may use of this host. Unset: what it has, the limits of this process's control group included.
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  // "T4:0:16GiB", "T4:0", or a bare id "0" of no particular type; they come instead of detected ones.
  std::vector<std::string> gpus;
  bool detect_gpus = true;
  // Replicas listen on ports from this one on. Unset: wherever there are some.
  std::optional<std::int32_t> first_port;
  // Where packages are hashed, which may take long. It must outlive the launcher. Null: callers wait for it.
  Executor* executor = nullptr;
};

// Runs gangs as processes or containers of this host, as vernierd does: each replica under a supervisor of its own that
// outlives this process, Python packages installed and images fetched before. Everything that it must know again after a
// restart is in files below `runs_directory`; one launcher at a time may use these.
//
// Not thread-safe but for Nodes, Queue and WhyHeld. Starts no thread and installs no signal handler; it forks.
// InvalidArgument: an option.  NotFound: no supervisor program.  Unavailable: the runs directory cannot be written.
absl::StatusOr<std::unique_ptr<Launcher>> NewLocalLauncher(const LocalLauncherOptions& options,
                                                           const Clock& clock);

}  // namespace vernier
