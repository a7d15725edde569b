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
  // SQLite file, created if missing. ":memory:": nothing is stored durably.
  std::string store;
  // gRPC addresses of this host: "unix:/run/vernier.sock", "127.0.0.1:7117"; port 0 for any free one. Empty: no client
  // can connect.
  std::vector<std::string> listen;
  // File with the token that calls over TCP must carry, created if missing. Empty: the token file of this user. A unix
  // socket needs no token: only this user can connect to it.
  std::string token_file;
  // Calls over TCP need no token. Then everybody who can connect can run programs as this user.
  bool open = false;
  // The algorithms and stopping rules that studies may name.
  AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn();
  // Whether to run trials. False: only clients run trials, and studies with a job wait.
  bool run_engine = true;
  // Makes the launcher of trials; called once, by Start. Null: a local launcher, with the options below.
  std::function<absl::StatusOr<std::unique_ptr<Launcher>>(const Clock& clock)> launcher;
  // Makes the reader of an attempt's metrics. Null: NewMetricReader.
  MetricReaderFactory metrics;
  // Folder of the logs and records of attempts. Empty: "<store>.runs".
  std::string runs_directory;
  // As in LocalLauncherOptions.
  std::vector<std::string> inherit_env = {"*"};
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  std::vector<std::string> gpus;
  bool detect_gpus = true;
};

// A server within this process, as vernierd is one: studies in a store, the engine that runs their trials, gRPC
// services. Link vernier::server.
//
//   const auto server = Server::Start({.store = "studies.db", .listen = {"127.0.0.1:0"}});
//   if (!server.ok()) return server.status();
//   const auto client = Client::Connect((*server)->addresses().front());
//   // Use the client. The server stops when it is destroyed.
//
// Starts threads. The destructor stops the server; running trials continue, and the next server on the store adopts
// them. Not thread-safe, except for `addresses`.
class Server {
 public:
  // Opens the store and serves as soon as it returns.
  // InvalidArgument: an option.  Unavailable (kStoreBusy): another process owns the store; the message names it.
  // Other errors: as OpenSqliteStorage, and those of the launcher.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  virtual ~Server() = default;

  // The addresses listened on, with real port numbers, in the order of the options.
  virtual std::vector<std::string> addresses() const = 0;
  // Refuses new calls, ends streams, stops the engine. Running trials continue. Blocks until that is done. Idempotent.
  virtual void Shutdown() = 0;
};

}  // namespace vernier
