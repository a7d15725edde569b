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
  // Folder of all attempts, created if missing. An attempt has <runs_directory>/<study>/trial-<n>/attempt-<k>
  // (docs/formats/attempt_directory.md).
  std::string runs_directory;
  // Program that supervises one replica. Empty: vernier-supervisor beside this program, or on PATH.
  std::string supervisor;
  // Variables of this process that programs of trials inherit, besides those of their job: names, "NAME*", "*" for all.
  std::vector<std::string> inherit_env = {"*"};
  // Folder of the secrets that a job refers to by {secret: NAME}. Empty: a job may not refer to any.
  std::string secrets_directory;
  // Capacity of this host for training jobs. Unset: that of the host, within the control group of this process.
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  // Declared devices: "T4:0:16GiB" (type, id, memory), "T4:0", or a bare id "0" without a type. They replace detected
  // ones.
  std::vector<std::string> gpus;
  // Whether to detect the devices of the host if none is declared.
  bool detect_gpus = true;
  // Replicas listen on ports from this one upwards. Unset: on any free ports.
  std::optional<std::int32_t> first_port;
  // Runs the hashing of packages, which may take long. Must outlive the launcher. Null: Prepare hashes them itself.
  Executor* executor = nullptr;
};

// Makes the launcher that vernierd uses: it runs gangs as processes or containers of this host. Each replica has a
// supervisor that outlives this process. Python packages are installed, and container images fetched, before a gang
// starts.
//
//   const auto clock = NewRealClock();
//   const auto launcher = NewLocalLauncher({.runs_directory = "runs"}, *clock);
//   if (!launcher.ok()) return launcher.status();
//   const auto engine = Engine::Create(*studies, **launcher, *clock, {.metrics = NewMetricReader});
//
// `clock` must outlive the result. What a later process needs to adopt the gangs is in files below `runs_directory`;
// only one launcher at a time may use them.
//
// The result is not thread-safe, except for CheckFits, Nodes, Queue and WhyHeld. It starts no thread and installs no
// signal handler; it forks.
// InvalidArgument: an option.  NotFound: no supervisor program.  Unavailable: the runs directory cannot be written.
absl::StatusOr<std::unique_ptr<Launcher>> NewLocalLauncher(const LocalLauncherOptions& options,
                                                           const Clock& clock);

}  // namespace vernier
