#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/clock.h"
#include "vernier/launcher.h"
#include "vernier/metric_reader.h"

namespace vernier {

struct ServerOptions {
  // SQLite file, created if missing; ":memory:" keeps nothing.
  std::string store;
  // gRPC addresses of this host: "unix:/run/vernier.sock", "127.0.0.1:7117", port 0 for any free one. Without one, nobody can
  // call.
  std::vector<std::string> listen;
  // A unix socket is for this user only. Calls over TCP need the token of this file, which is made if there is none; empty:
  // the user's own. With `open` they need none: whoever can connect runs programs as this user.
  std::string token_file;
  bool open = false;
  // What studies may name as their algorithm and their stopping rule.
  AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn();
  // Whether trials are run. False: clients run them, and studies with a job wait.
  bool run_engine = true;
  // Makes what runs the trials. Called once, by Start. Null: this host runs them, with what follows.
  std::function<absl::StatusOr<std::unique_ptr<Launcher>>(const Clock& clock)> launcher;
  // How the metrics of an attempt are read. Null: NewMetricReader.
  MetricReaderFactory metrics;
  // Where attempts keep logs and records. Empty: "<store>.runs".
  std::string runs_directory;
  // As LocalLauncherOptions.
  std::vector<std::string> inherit_env = {"*"};
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  std::vector<std::string> gpus;
  bool detect_gpus = true;
};

// What vernierd is, within a process of one's own: studies in a store, the engine that runs their trials, gRPC. Link
// vernier::server.
//
// Has threads of its own. Stops when destroyed; trials that run go on, and the next server on the store takes them back.
class Server {
 public:
  // InvalidArgument: an option.  Unavailable (kStoreBusy): another process owns the store; the message names it.
  // Other errors: as OpenSqliteStorage, and those of the launcher.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  virtual ~Server() = default;

  // The addresses listened on, with real port numbers, in the order of the options.
  virtual std::vector<std::string> addresses() const = 0;
  // Stops taking calls, ends streams, stops the engine. Idempotent.
  virtual void Shutdown() = 0;
};

}  // namespace vernier
