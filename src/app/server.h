#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "src/jobs/machine_catalogue.h"
#include "src/launch/cluster_launcher.h"
#include "src/launch/container/engine.h"
#include "src/launch/local/disk_guard.h"
#include "src/launch/local/host_capacity.h"
#include "src/launch/python/environments.h"
#include "src/launch/slurm/cluster.h"
#include "src/service/server_state.h"
#include "src/storage/owner/store_lock.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/clock.h"
#include "vernier/launcher.h"
#include "vernier/metric_reader.h"

// The composition root: the only code that picks concrete classes.
namespace vernier::app {

struct ServerOptions {
  // SQLite file, created if missing; ":memory:" stores nothing durably.
  std::string store;
  // How long to wait for a process that has the store and no address.
  absl::Duration patience = storage::kTurnPatience;
  // gRPC addresses: "unix:/run/vernier.sock", "127.0.0.1:7117"; port 0 for any free one. May be empty (in process
  // only). Addresses other than loopback and unix sockets are refused unless allow_remote is set.
  std::vector<std::string> listen;
  bool allow_remote = false;
  // A unix socket is for this user only. Calls over TCP need the token in this file, which is made if it is missing;
  // empty: base::TokenPath(). With `open` they need none: whoever can connect can run programs as this user.
  std::string token_file;
  bool open = false;
  // The algorithms and stopping rules that studies may name.
  AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn();
  // Whether to run the training jobs of studies. Requires owning the store.
  bool run_engine = true;
  // False: starts trials only of studies that a client creates, redefines or resumes meanwhile
  // (docs/adr/0031-a-run-starts-its-own-study.md). Running trials are followed in any case.
  bool run_every_study = true;
  // Folder of the logs and records of attempts. Empty: "<store>.runs".
  std::string runs_directory;
  // Variables of this process that programs of trials get in addition to their job's: names, "NAME*", "*" for all.
  std::vector<std::string> inherit_env = {"*"};
  // Capacity of this host for training jobs. Unset: all of it.
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  std::vector<std::string> gpus;  // "T4:0:16GiB", "T4:0" or bare ids; declared devices.
  bool detect_gpus = true;
  // Makes the launcher of trials, in place of this host's; then the options below about this host have no effect.
  // Called at most once, by Start. Null: this host runs trials.
  std::function<absl::StatusOr<std::unique_ptr<Launcher>>(const Clock& clock)> launcher;
  // Makes the reader of an attempt's metrics. Null: NewMetricReader.
  MetricReaderFactory metrics;
  // Space that must stay free on the disks of the runs and of the store: launch::ProcessLauncherOptions::disk_reserve.
  std::optional<std::int64_t> disk_reserve;
  launch::DiskProbe disk_probe;  // Null: the real one.
  launch::Fitting fitting = launch::Fitting::kStrict;
  // Replicas listen on ports from this one upwards. Unset: on any free ports.
  std::optional<std::int32_t> first_port;
  // As launch::ProcessLauncherOptions::unmanaged, for a single run in the foreground.
  bool unmanaged = false;
  // The control group below which replicas get theirs. Empty: that of this process. "none": shares are accounted
  // without limits.
  std::string control_group;
  // The supervisor program. Empty: vernier-supervisor beside this program, or on PATH.
  std::string supervisor;
  // The machines, tiers, GPUs and regions that jobs may name. Unset: jobs::StandardCatalogue().
  std::optional<jobs::MachineCatalogue> machines;
  // The Python interpreters that jobs may name as runtimes; other names are refused. Empty: every name is this host's
  // python3.
  std::map<std::string, launch::PythonRuntime> runtimes;
  // The engine of container images. The folder of images is set by Start.
  launch::ContainerHostOptions containers;
  // Clusters beside this host, by name. Jobs name one, or "local".
  std::map<std::string, launch::slurm::ClusterOptions> clusters;
  std::string cluster = launch::kLocalCluster;  // Of jobs that name none.
  // The regions that jobs may name, and the cluster of each. Empty: any region, and it says nothing of the cluster.
  std::map<std::string, std::string> regions;
  // Removes unused files every hour. Unset: they stay until a clean-up is requested.
  std::optional<service::CleanUpRule> clean_up;
};

// The lock of the store and the record of its owner: store_lock.h.
using storage::CheckStoreFolder;
using storage::CheckStoreName;
using storage::FindStoreOwner;
using storage::StoreLock;
using storage::StoreOwner;

// A running server: storage, studies, engine, gRPC services. Owns its threads. Destroying it stops it.
class Server {
 public:
  // InvalidArgument: an option.  Unavailable (kStoreBusy): another process owns the store; the message names it.
  // Other errors: as OpenSqliteStorage.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  virtual ~Server() = default;

  // The addresses listened on, with real port numbers, in the order of the options.
  virtual std::vector<std::string> addresses() const = 0;
  // A channel to this server without a socket.
  virtual std::shared_ptr<grpc::Channel> InProcessChannel() = 0;
  // Refuses new calls, ends streams, stops the engine loop; running replicas continue. Idempotent.
  virtual void Shutdown() = 0;
};

}  // namespace vernier::app
