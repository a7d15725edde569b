// vernierd: the server as a daemon. Runs in the foreground until SIGTERM or SIGINT; replicas that it started go on and
// are taken back by the next one.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/synchronization/mutex.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/configuration.h"
#include "src/app/host_report.h"
#include "src/app/paths.h"
#include "src/app/server.h"
#include "src/base/log.h"
#include "src/core/status.h"

namespace vernier::app {
namespace {

enum ExitCode { kOk = 0, kFailed = 1, kInvalid = 2, kDenied = 5, kUnavailable = 6 };

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      return kInvalid;
    case absl::StatusCode::kPermissionDenied:
      return kDenied;
    case absl::StatusCode::kUnavailable:
      return kUnavailable;
    default:
      return kFailed;
  }
}

// As CLI11 sorts and shows them.
template <typename T>
std::map<std::string, T> MapOf(const Names<T>& names) {
  return {names.begin(), names.end()};
}

struct Flags {
  Configuration said;  // What the command line says; it beats the file.
  std::string file;
  bool check = false;
};

void DeclareHost(HostConfiguration& host, CLI::App& app) {
  app.add_option("--cpus", host.cpus, "CPUs for training jobs (default: what the host has)")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory", host.memory_bytes, "Memory for training jobs, such as 8GiB")
      ->transform(CLI::AsSizeValue(false));
  app.add_option_function<std::vector<std::string>>(
      "--gpu",
      [&host](const std::vector<std::string>& gpus) { host.gpus = gpus; },
      "Device for training jobs: TYPE:ID:MEMORY, TYPE:ID or ID (default: detected)");
  app.add_option("--fitting",
                 host.fitting,
                 "What becomes of jobs that are too large for the host: strict (refused) or scaled")
      ->transform(CLI::CheckedTransformer(MapOf(kFittings)))
      ->option_text("strict|scaled");
}

void Declare(Flags& flags, CLI::App& app) {
  Configuration& said = flags.said;
  app.add_option("--config", flags.file, "Configuration file, YAML or JSON; flags beat it");
  app.add_flag("--check", flags.check, "Check the configuration and start nothing");
  app.add_option("--listen",
                 said.listen,
                 "Address: HOST:PORT (0: any free port) or unix:PATH (default: 127.0.0.1:7117)");
  app.add_option("--store",
                 said.store,
                 "File of the store, or :memory: (default: " + DefaultStorePath() + ")");
  app.add_option("--runs", said.runs, "Folder for what trials print (default: STORE.runs)");
  DeclareHost(said.host, app);
  app.add_option("--supervisor", said.supervisor, "Program that looks after one replica");
  app.add_flag("--allow-remote", said.allow_remote, "Listen on other addresses than loopback");
  app.add_option("--log-level", said.log_level, "debug, info, warning, error or off")
      ->transform(CLI::CheckedTransformer(MapOf(kLogLevels), CLI::ignore_case));
  app.set_version_flag("--version", "vernierd " VERNIER_VERSION);
}

// The file, if there is one, under the flags.
absl::StatusOr<Configuration> Combine(const Flags& flags) {
  if (flags.file.empty()) return flags.said;
  VERNIER_ASSIGN_OR_RETURN(const Configuration file, LoadConfiguration(flags.file));
  return Overlay(flags.said, file);
}

// Signals become bytes of a pipe. Blocking them and waiting would be shorter, but programs started from here would inherit
// the mask and never see a TERM.
int signal_pipe[2] = {-1, -1};

void OnSignal(int) {
  const int saved = errno;
  const char byte = 0;
  // If the pipe is full, there is a byte in it already.
  [[maybe_unused]] const ssize_t written = write(signal_pipe[1], &byte, 1);
  errno = saved;
}

bool CatchSignals() {
  if (pipe2(signal_pipe, O_CLOEXEC) != 0) return false;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  return sigaction(SIGTERM, &action, nullptr) == 0 && sigaction(SIGINT, &action, nullptr) == 0;
}

void WaitForSignal() {
  pollfd pipe = {.fd = signal_pipe[0], .events = POLLIN};
  while (poll(&pipe, 1, -1) < 0 && errno == EINTR) {
  }
}

int Explain(const absl::Status& status) {
  fmt::print(stderr, "vernierd: {}\n", std::string(status.message()));
  return ExitCodeOf(status);
}

int Serve(const ServerOptions& options) {
  if (!CatchSignals()) {
    std::perror("vernierd: signals");
    return kFailed;
  }
  const auto server = Server::Start(options);
  if (!server.ok()) return Explain(server.status());
  fmt::print("listening on {} store {}\n", fmt::join((*server)->addresses(), ", "), options.store);
  std::fflush(stdout);
  WaitForSignal();
  base::Log(base::LogLevel::kInfo, "stopping");
  (*server)->Shutdown();
  return kOk;
}

int Run(const Flags& flags) {
  const absl::StatusOr<Configuration> configuration = Combine(flags);
  if (!configuration.ok()) return Explain(configuration.status());
  const absl::StatusOr<ServerOptions> options = ServerOptionsOf(*configuration);
  if (!options.ok()) return Explain(options.status());
  const absl::Status runtimes = CheckRuntimes(options->runtimes);
  if (flags.check) {
    if (!runtimes.ok()) return Explain(runtimes);
    const absl::StatusOr<std::string> containers = DescribeContainers(options->containers);
    fmt::print("the configuration is valid\ncontainers: {}\n",
               containers.ok() ? *containers : std::string(containers.status().message()));
    return kOk;
  }
  base::SetLogLevel(configuration->log_level.value_or(base::LogLevel::kInfo));
  // Jobs that run under another one, or are under way, need none of them.
  if (!runtimes.ok()) {
    base::Log(base::LogLevel::kWarning,
              "a runtime is missing",
              {{"reason", std::string(runtimes.message())}});
  }
  return Serve(*options);
}

int Main(int argc, char** argv) {
  CLI::App app("Vernier's server: studies over gRPC, and the engine that runs their training jobs");
  Flags flags;
  Declare(flags, app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kInvalid;
  }
  return Run(flags);
}

}  // namespace
}  // namespace vernier::app

int main(int argc, char** argv) {
  // Costs every lock of the program, gRPC's included; the tests look for deadlocks with tools of their own.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return vernier::app::Main(argc, argv);
}
