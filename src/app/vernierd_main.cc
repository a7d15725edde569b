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

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/paths.h"
#include "src/app/server.h"
#include "src/base/log.h"

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

const std::map<std::string, base::LogLevel> kLogLevels = {{"debug", base::LogLevel::kDebug},
                                                          {"info", base::LogLevel::kInfo},
                                                          {"warning", base::LogLevel::kWarning},
                                                          {"error", base::LogLevel::kError},
                                                          {"off", base::LogLevel::kOff}};

struct Flags {
  ServerOptions server;
  base::LogLevel log_level = base::LogLevel::kInfo;
};

void Declare(Flags& flags, CLI::App& app) {
  ServerOptions& server = flags.server;
  server.listen = {"127.0.0.1:7117"};
  app.add_option("--listen", server.listen, "Address: HOST:PORT (0: any free port) or unix:PATH")
      ->capture_default_str();
  app.add_option("--store", server.store, "File of the store, or :memory:")

      ->default_val(DefaultStorePath());
  app.add_option(
      "--runs", server.runs_directory, "Folder for what trials print (default: STORE.runs)");
  app.add_option("--cpus", server.cpus, "CPUs for training jobs (default: what the host has)")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory", server.memory_bytes, "Memory for training jobs, such as 8GiB")
      ->transform(CLI::AsSizeValue(false));
  app.add_option(
      "--gpu", server.gpus, "Device for training jobs: ID or TYPE:ID (default: detected)");
  app.add_option("--supervisor", server.supervisor, "Program that looks after one replica");
  app.add_flag("--allow-remote", server.allow_remote, "Listen on other addresses than loopback");
  app.add_option("--log-level", flags.log_level, "debug, info, warning, error or off")
      ->transform(CLI::CheckedTransformer(kLogLevels, CLI::ignore_case));
  app.set_version_flag("--version", "vernierd " VERNIER_VERSION);
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

int Serve(const ServerOptions& options) {
  if (!CatchSignals()) {
    std::perror("vernierd: signals");
    return kFailed;
  }
  const auto server = Server::Start(options);
  if (!server.ok()) {
    fmt::print(stderr, "vernierd: {}\n", std::string(server.status().message()));
    return ExitCodeOf(server.status());
  }
  fmt::print("listening on {} store {}\n", fmt::join((*server)->addresses(), ", "), options.store);
  std::fflush(stdout);
  WaitForSignal();
  base::Log(base::LogLevel::kInfo, "stopping");
  (*server)->Shutdown();
  return kOk;
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
  base::SetLogLevel(flags.log_level);
  return Serve(flags.server);
}

}  // namespace
}  // namespace vernier::app

int main(int argc, char** argv) { return vernier::app::Main(argc, argv); }
