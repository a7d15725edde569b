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
#include "src/launch/container/engine.h"
#include "src/launch/local/disk_guard.h"
#include "src/launch/local/host_capacity.h"
#include "src/launch/python/environments.h"
#include "src/service/server_state.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/clock.h"
#include "vernier/launcher.h"
#include "vernier/metric_reader.h"

// The composition root: the only code that picks concrete classes.
namespace vernier::app {

struct ServerOptions {
  // SQLite file, created if missing; ":memory:" keeps nothing.
  std::string store;
  // gRPC addresses: "unix:/run/vernier.sock", "127.0.0.1:7117", port 0 for any free one. May be empty (in process only).
  // Anything but loopback and unix sockets is refused unless allow_remote is set.
  std::vector<std::string> listen;
  bool allow_remote = false;
  // A unix socket is for this user only. Calls over TCP need the token of this file, which is made if there is none; empty:
  // base::TokenPath(). With `open` they need none: whoever can connect runs programs as this user.
  std::string token_file;
  bool open = false;
  // What studies may name as their algorithm and their stopping rule.
  AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn();
  // Run the training jobs of studies. Needs to own the store.
  bool run_engine = true;
  // False: start trials of those studies only that a client creates, redefines or resumes meanwhile. Trials that run already
  // are followed in any case.
  bool run_every_study = true;
  // Where attempts keep logs and records. Empty: "<store>.runs".
  std::string runs_directory;
  // Variables of this process that programs of trials get besides their job's: names, "NAME*", "*" for all.
  std::vector<std::string> inherit_env = {"*"};
  // Capacity of this host for training jobs. Unset: what the host has.
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  std::vector<std::string> gpus;  // "T4:0:16GiB", "T4:0" or bare ids; declared devices.
  bool detect_gpus = true;
  // Makes what runs the trials, in place of this host; what follows about this host then counts for nothing. It may be called
  // once, by Start. Null: this host runs them.
  std::function<absl::StatusOr<std::unique_ptr<Launcher>>(const Clock& clock)> launcher;
  // How the metrics of an attempt are read. Null: NewMetricReader.
  MetricReaderFactory metrics;
  // What is to stay free on the disks of the runs and of the store: launch::ProcessLauncherOptions::disk_reserve.
  std::optional<std::int64_t> disk_reserve;
  launch::DiskProbe disk_probe;  // Null: the real one.
  launch::Fitting fitting = launch::Fitting::kStrict;
  // Replicas listen on ports from this one on. Unset: wherever there are some.
  std::optional<std::int32_t> first_port;
  // As launch::ProcessLauncherOptions::unmanaged: for one run in the foreground.
  bool unmanaged = false;
  // The control group below which replicas get theirs. Empty: the one of this process. "none": shares are only accounted.
  std::string control_group;
  // The program that looks after one replica. Empty: vernier-supervisor beside this program, or on PATH.
  std::string supervisor;
  // The machines, tiers, GPUs and regions that jobs name. Unset: jobs::StandardCatalogue().
  std::optional<jobs::MachineCatalogue> machines;
  // The Python interpreters that jobs name as their runtimes; another name is refused. Empty: each is this host's python3.
  std::map<std::string, launch::PythonRuntime> runtimes;
  // What runs container images. Its folder of images is that of the runs.
  launch::ContainerHostOptions containers;
  // What jobs may name as their region. Empty: anything.
  std::vector<std::string> regions;
  // Removes what nobody needs any more, every hour. Unset: it stays until somebody asks.
  std::optional<service::CleanUpRule> clean_up;
};

// Who has the store open for writing: one process at a time. Kept beside the store in "<store>.owner", locked by flock.
struct StoreOwner {
  std::int64_t process_id = 0;
  std::string address;           // A gRPC target that reaches it; empty: none.
  std::string token_file;        // Holds the token that it asks for; empty: none is needed.
  bool runs_every_study = true;  // As ServerOptions::run_every_study.
};
// The live owner of the store, if there is one.
std::optional<StoreOwner> FindStoreOwner(const std::string& store);

// A running server: storage, studies, engine, gRPC services. Owns its threads. Stops when destroyed.
class Server {
 public:
  // InvalidArgument: an option.  Unavailable (kStoreBusy): another process owns the store; the message names it.
  // Other errors: as OpenSqliteStorage.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  virtual ~Server() = default;

  // The addresses listened on, with real port numbers, in the order of the options.
  virtual std::vector<std::string> addresses() const = 0;
  // A channel to this server that goes through no socket.
  virtual std::shared_ptr<grpc::Channel> InProcessChannel() = 0;
  // Stops taking calls, ends streams, stops the engine loop; running replicas go on. Idempotent.
  virtual void Shutdown() = 0;
};

}  // namespace vernier::app
