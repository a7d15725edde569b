#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/container/engine.h"
#include "src/launch/environment.h"
#include "src/launch/local/disk_guard.h"
#include "src/launch/local/host_capacity.h"
#include "vernier/core/clock.h"
#include "vernier/launcher.h"

namespace vernier::launch {

struct ProcessLauncherOptions {
  // Attempts have their files in <runs_directory>/<study>/trial-<n>/attempt-<k>. Created if missing.
  std::string runs_directory;
  // The supervisor program. Empty: vernier-supervisor beside this program, or on PATH.
  std::string supervisor;
  // Environment of programs, besides the variables of their job.
  Environment environment = OwnEnvironment({"*"});
  // Folder of the secrets that a job refers to by name (SecretSource::name). Empty: a job may not refer to any.
  std::string secrets_directory;
  // Capacity of this host for training jobs. Unset: that of the host, within the cgroup limits of this process.
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  // Declared devices: "T4:0:16GiB", "T4:0", or a bare id "0" of no particular type. They replace detected devices.
  std::vector<std::string> gpus;
  // Whether to ask the driver for devices, once, if none is declared.
  bool detect_gpus = true;
  Fitting fitting = Fitting::kStrict;
  // Replicas listen on ports from this one upwards. Unset: on any free ports.
  std::optional<std::int32_t> first_port;
  // Runs gangs as a user at a terminal would: programs see the devices that this process sees, whatever was reserved,
  // and the end of the primary ends the gang, at once and with the primary's own reason.
  bool unmanaged = false;
  // The control group below which each replica gets one that limits it to its share (control_group_host.h). Empty: the
  // group of this process. "none": shares are accounted without limits.
  std::string control_group;
  // Space that must stay free on the disks of the runs and of `store_directory` (disk_guard.h): with less, no gang is
  // placed or started. Unset: 1 % of each disk, but at least 16 MiB and at most 256 MiB.
  std::optional<std::int64_t> disk_reserve;
  std::string store_directory;  // Empty: none.
  DiskProbe disk_probe;         // Null: ProbeDisk.
  // Runs container images. Null: they are refused.
  std::shared_ptr<ContainerHost> containers;
  // Time that the primary has, after a worker or parameter server failed, to end by itself before the gang is brought
  // down. Its own end says more, and workers of a primary that is about to succeed may fail when it leaves.
  absl::Duration failed_replica_patience = absl::Seconds(10);
  // Time to wait, after the primary failed permanently, for the record of a peer that failed first and caused it.
  absl::Duration failed_primary_settling = absl::Seconds(1);
  // Failures at most this far apart count as one. A chief was seen to end 19 s after the parameter server that it had
  // lost, on an idle machine (docs/adr/0022-restarts-and-reruns.md).
  absl::Duration failure_spread = absl::Seconds(60);
};

// Runs gangs as processes of this host. Each replica has a supervisor of its own that outlives this process and this
// object. All that a restarted process needs to know is in files of the attempt's directory.
//
// Not thread-safe, except for CheckFits, Nodes, Queue and WhyHeld. Starts no thread, installs no signal handler. Start
// forks, and Check forks for replicas with GPUs (gpu_watch.h); nothing else does.
// InvalidArgument: an option.  NotFound: no supervisor program.  Unavailable: the runs directory cannot be written.
absl::StatusOr<std::unique_ptr<Launcher>> NewProcessLauncher(ProcessLauncherOptions options,
                                                             const Clock& clock);

// Describes this host as an idle launcher with these options would. Starts no replica and writes nothing; may take as
// long as a driver takes to answer.
// InvalidArgument: an option.
absl::StatusOr<Node> DescribeHost(const ProcessLauncherOptions& options, const Clock& clock);

}  // namespace vernier::launch
