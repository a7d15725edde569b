// vernierd: the server as a daemon. Runs in the foreground until SIGTERM or SIGINT. Its replicas continue, and the next
// server adopts them.
//
// Options on the command line and keys of the configuration file fill the same struct (Configuration), and the command
// line wins key by key. Exit statuses are those of `vernier` (docs/guides/cli.md).
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
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
#include "src/app/usage.h"
#include "src/base/log.h"
#include "src/core/byte_size.h"
#include "src/core/status.h"

namespace vernier::app {
namespace {

// The numbers of docs/guides/cli.md, "Exit codes".
enum ExitCode { kOk = 0, kFailed = 1, kInvalid = 2, kDenied = 5, kUnavailable = 6 };

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    // The user named something that is not there, a file or a store's folder.
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

struct Flags {
  Configuration said;  // From the command line, which overrides the file.
  std::string file;
  bool check = false;
};

// An option with one of these names as its value; an error lists them.
template <typename T>
CLI::Option* AddChoice(CLI::App& app,
                       const char* option,
                       const Names<T>& names,
                       std::optional<T>& chosen,
                       const char* help) {
  std::vector<std::string> words;
  for (const auto& [name, value] : names) words.push_back(name);
  const auto choose = [&names, &chosen](const std::string& word) {
    for (const auto& [name, value] : names) {
      if (name == word) chosen = value;
    }
  };
  return app.add_option_function<std::string>(option, choose, help)
      ->transform([](const std::string& word) { return CLI::detail::to_lower(word); })
      ->check(OneOf(words));
}

CLI::Validator AmountOfMemory() {
  return CLI::Validator([](const std::string& text) { return ProblemOfAmount(text); }, "");
}

CLI::Validator DiskReserve() {
  return CLI::Validator(
      [](const std::string& text) {
        const std::optional<std::int64_t> bytes = ParseByteCount(text);
        if (bytes.has_value() && *bytes >= launch::kLeastReserve) return std::string();
        return fmt::format("must be a size such as 1GiB of at least 16MiB, got '{}'", text);
      },
      "");
}

void DeclareHost(HostConfiguration& host, CLI::App& app) {
  app.add_option("--cpus", host.cpus, "CPUs that training jobs may use (default: all)")
      ->check(AboveZero())
      ->option_text("NUMBER");
  app.add_option_function<std::string>(
         "--memory",
         [&host](const std::string& text) { host.memory_bytes = ParseByteCount(text); },
         "Memory that training jobs may use, e.g. 16GiB (default: all)")
      ->check(AmountOfMemory())
      ->option_text("SIZE");
  app.add_option_function<std::vector<std::string>>(
         "--gpu",
         [&host](const std::vector<std::string>& gpus) { host.gpus = gpus; },
         "A GPU that training jobs may use: TYPE:ID:MEMORY, TYPE:ID or ID; repeat it for more "
         "(default: all that are found)")
      ->option_text("GPU");
  app.add_option_function<std::string>(
         "--disk-reserve",
         [&host](const std::string& text) { host.disk_reserve = ParseByteCount(text); },
         "Start no trial while the disk of the store or of the runs has less free space than this, "
         "e.g. 1GiB, at least 16 MiB (default: 1 % of the disk, from 16 to 256 MiB)")
      ->check(DiskReserve())
      ->option_text("SIZE");
  AddChoice(app,
            "--fitting",
            kFittings,
            host.fitting,
            "Jobs larger than this host: strict refuses them, scaled shrinks them (default: "
            "strict)")
      ->option_text("strict|scaled");
}

void Declare(Flags& flags, CLI::App& app) {
  Configuration& said = flags.said;
  app.formatter(NewHelpFormatter());
  app.set_help_flag("-h,--help", "Print this help");
  app.add_option("--config",
                 flags.file,
                 "Configuration file, YAML or JSON; command-line options override it")
      ->option_text("FILE");
  app.add_flag("--check", flags.check, "Check the configuration and start nothing");
  app.add_option("--listen",
                 said.listen,
                 "Address to listen on: HOST:PORT (port 0: any free one) or unix:PATH; repeat it "
                 "for more (default: unix:STORE.sock)")
      ->option_text("ADDRESS");
  app.add_option("--store",
                 said.store,
                 "File that holds the studies, or :memory: (default: $VERNIER_STORE, else "
                 "~/.local/state/vernier/vernier.db)")
      ->check(AFile())
      ->option_text("FILE");
  app.add_option(
         "--runs", said.runs, "Folder for the logs and records of trials (default: STORE.runs)")
      ->option_text("FOLDER");
  DeclareHost(said.host, app);
  app.add_option("--supervisor",
                 said.supervisor,
                 "Program that supervises each replica (default: vernier-supervisor beside this "
                 "one)")
      ->option_text("FILE");
  DeclareAccess(said, app);
  AddChoice(app,
            "--log-level",
            kLogLevels,
            said.log_level,
            "Lowest level of messages to log (default: info)")
      ->option_text("debug|info|warning|error|off");
  app.set_version_flag("--version", "vernierd " VERNIER_VERSION, "Print the version");
}

// The configuration file, if there is one, overridden by the flags.
absl::StatusOr<Configuration> Combine(const Flags& flags) {
  if (flags.file.empty()) return flags.said;
  VERNIER_ASSIGN_OR_RETURN(const Configuration file, LoadConfiguration(flags.file));
  return Overlay(flags.said, file);
}

// Signals become bytes of a pipe (the self-pipe trick). Blocking them and waiting would be shorter, but programs
// started from here would inherit the mask and never receive a TERM.
int signal_pipe[2] = {-1, -1};

void OnSignal(int) {
  // errno belongs to the code that was interrupted.
  const int saved = errno;
  const char byte = 0;
  // A full pipe already has a byte in it.
  [[maybe_unused]] const ssize_t written = write(signal_pipe[1], &byte, 1);
  errno = saved;
}

bool CatchSignals() {
  // Closed in programs that are started from here.
  if (pipe2(signal_pipe, O_CLOEXEC) != 0) return false;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // Libraries in this process may not expect EINTR.
  action.sa_flags = SA_RESTART;
  return sigaction(SIGTERM, &action, nullptr) == 0 && sigaction(SIGINT, &action, nullptr) == 0;
}

void WaitForSignal() {
  pollfd pipe = {.fd = signal_pipe[0], .events = POLLIN};
  while (poll(&pipe, 1, -1) < 0 && errno == EINTR) {
  }
}

int PrintError(const absl::Status& status) {
  fmt::print(stderr, "vernierd: {}\n", std::string(status.message()));
  return ExitCodeOf(status);
}

int Serve(const ServerOptions& options) {
  // Before the server starts: a TERM during a slow start must still end it properly.
  if (!CatchSignals()) {
    std::perror("vernierd: signals");
    return kFailed;
  }
  const auto server = Server::Start(options);
  if (!server.ok()) return PrintError(server.status());
  // One line on standard output, flushed: programs that start a server wait for it and read the addresses.
  fmt::print("listening on {} store {}\n", fmt::join((*server)->addresses(), ", "), options.store);
  std::fflush(stdout);
  WaitForSignal();
  base::Log(base::LogLevel::kInfo, "stopping");
  (*server)->Shutdown();
  return kOk;
}

int Run(const Flags& flags) {
  const absl::StatusOr<Configuration> configuration = Combine(flags);
  if (!configuration.ok()) return PrintError(configuration.status());
  const absl::StatusOr<ServerOptions> options = ServerOptionsOf(*configuration);
  if (!options.ok()) return PrintError(options.status());
  // Checked in any case, but only --check makes an error of it.
  const absl::Status runtimes = CheckRuntimes(options->runtimes);
  if (flags.check) {
    if (!runtimes.ok()) return PrintError(runtimes);
    const absl::StatusOr<std::string> containers = DescribeContainers(options->containers);
    fmt::print("the configuration is valid\ncontainers: {}\n",
               containers.ok() ? *containers : std::string(containers.status().message()));
    return kOk;
  }
  base::SetLogLevel(configuration->log_level.value_or(base::LogLevel::kInfo));
  // Only a warning: jobs of other runtimes and running jobs do not need it.
  if (!runtimes.ok()) {
    base::Log(base::LogLevel::kWarning,
              "a runtime is missing",
              {{"reason", std::string(runtimes.message())}});
  }
  return Serve(*options);
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Serve studies over gRPC and run their training jobs. The server stays in the foreground and "
      "ends on SIGTERM or SIGINT; running training jobs continue, and the next server takes them "
      "over.",
      "vernierd");
  Flags flags;
  Declare(flags, app);
  try {
    Parse(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const CLI::Success& answer) {  // --help, --version.
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    const UsageError usage = ExplainUsage(error, app);
    fmt::print(stderr, "vernierd: {}\n  {}\n", usage.sentence, usage.hint);
    return kInvalid;
  }
  return Run(flags);
}

}  // namespace
}  // namespace vernier::app

int main(int argc, char** argv) {
  // Abseil's deadlock detection slows down every mutex, also those of gRPC. The tests have tools of their own for
  // deadlocks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // Errors are reported in messages of our own.
  return vernier::app::Main(argc, argv);
}
