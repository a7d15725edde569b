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
  // Attempts live in <runs_directory>/<study>/trial-<n>/attempt-<k>. Created if missing.
  std::string runs_directory;
  // The program that looks after one replica. Empty: vernier-supervisor beside this program, or on PATH.
  std::string supervisor;
  // What programs have besides what their job gives them.
  Environment environment = OwnEnvironment({"*"});
  // Where secrets are that a job names (SecretSource::name). Empty: it may name none.
  std::string secrets_directory;
  // Capacity of this host for training jobs. Unset: what the host has, cgroup limits included.
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  // Declared devices: "T4:0:16GiB", "T4:0", or a bare id "0" of no particular type. They come instead of detected ones.
  std::vector<std::string> gpus;
  // Ask the driver, once, if no device is declared.
  bool detect_gpus = true;
  Fitting fitting = Fitting::kStrict;
  // Replicas listen on ports from this one on. Unset: wherever there are some.
  std::optional<std::int32_t> first_port;
  // Run gangs as a user at a terminal would: their programs see the devices that this process sees, whatever was reserved,
  // and the end of the primary alone is the end of the gang, at once and for its own reason.
  bool unmanaged = false;
  // The control group below which each replica gets one that holds it to its share (control_group_host.h): empty, the one
  // this process is in; "none": shares are only accounted.
  std::string control_group;
  // What is to stay free on the disks of the runs and of `store_directory` (disk_guard.h): with less, no gang is placed or
  // started. Unset: 1 % of each, at least 16 MiB and at most 256 MiB.
  std::optional<std::int64_t> disk_reserve;
  std::string store_directory;  // Empty: none.
  DiskProbe disk_probe;         // Null: ProbeDisk.
  // What runs container images. None: they are refused.
  std::shared_ptr<ContainerHost> containers;
  // A worker or parameter server that failed brings its gang down; the primary gets this long to notice and to end by
  // itself, since its own end says more, and since peers of a primary that is about to succeed may trip over its leaving.
  absl::Duration failed_replica_patience = absl::Seconds(10);
  // How long a primary that failed for good waits for the record of a peer that failed before it, and brought it down.
  absl::Duration failed_primary_settling = absl::Seconds(1);
  // Failures that follow one another within this are one. A chief was seen to end 19 s after the parameter server that it
  // had lost, on an idle machine.
  absl::Duration failure_spread = absl::Seconds(60);
};

// Runs gangs as processes of this host, each replica under a supervisor of its own that outlives this process and this
// object. Everything it must know again after a restart is in files of the attempt's directory.
//
// Not thread-safe, but for Nodes and Queue. Starts no thread, installs no signal handler. Start forks, and so does Check where a replica
// has a GPU (gpu_watch.h); nothing else does.
// InvalidArgument: an option.  NotFound: no supervisor program.  Unavailable: the runs directory cannot be written.
absl::StatusOr<std::unique_ptr<Launcher>> NewProcessLauncher(ProcessLauncherOptions options,
                                                             const Clock& clock);

// This host as an idle launcher with these options would find it. Starts no replica and writes nothing; takes
// as long as a driver has to answer.
// InvalidArgument: an option.
absl::StatusOr<Node> DescribeHost(const ProcessLauncherOptions& options, const Clock& clock);

}  // namespace vernier::launch
