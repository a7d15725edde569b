#include "src/jobs/failure.h"

#include <csignal>
#include <optional>

#include "fmt/format.h"

namespace vernier::jobs {
namespace {

std::string SignalName(std::int32_t signal) {
  switch (signal) {
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGHUP:
      return "SIGHUP";
    case SIGILL:
      return "SIGILL";
    case SIGINT:
      return "SIGINT";
    case SIGKILL:
      return "SIGKILL";
    case SIGPIPE:
      return "SIGPIPE";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGTERM:
      return "SIGTERM";
    default:
      return fmt::format("signal {}", signal);
  }
}

// "9(SIGKILL)", or a plain exit code.
std::string StatusText(const ReplicaExit& exit) {
  const std::optional<std::int32_t> signal = SignalOf(exit);
  if (!signal.has_value()) return fmt::format("{}", exit.exit_code.value_or(0));
  return fmt::format("{}({})", exit.exit_code.value_or(*signal), SignalName(*signal));
}

// The wording of AI Platform Training's messages.
std::string Ended(std::string_view replica, std::string_view status, std::string_view reason) {
  return fmt::format(
      "{} exited with a non-zero status of {}. Termination reason: {}.", replica, status, reason);
}

}  // namespace

Failure Classify(std::string_view role, std::int32_t index, const ReplicaExit& exit) {
  const std::string name = fmt::format("The replica {} {}", role, index);
  const std::string status = StatusText(exit);
  switch (KindOf(exit)) {
    case ExitKind::kSuccess:
      return {};
    case ExitKind::kHostFailed:
      if (exit.error.empty()) {
        return {FailureClass::kInternal,
                fmt::format("{} exited with a non-zero status of {}, and some of its output was "
                            "lost: {}.",
                            name,
                            status,
                            exit.lost_output)};
      }
      // Neither the host nor the program started it: the same sentence, with another class.
      [[fallthrough]];
    case ExitKind::kNotStarted:
      return {exit.host_failed ? FailureClass::kInternal : FailureClass::kUserError,
              fmt::format("{} could not be started: {}.", name, exit.error)};
    case ExitKind::kOutOfMemory:
      return {FailureClass::kOutOfMemory,
              fmt::format(
                  "{} ran out-of-memory and exited with a non-zero status of {}.", name, status)};
    case ExitKind::kFromOutside:
      return {FailureClass::kPreempted, Ended(name, status, "ended from outside")};
    default:
      return {FailureClass::kUserError,
              Ended(name, status, SignalOf(exit).has_value() ? "crashed" : "Error")};
  }
}

Failure ClassifyLost(std::string_view role, std::int32_t index) {
  return {
      FailureClass::kNodeLost,
      fmt::format("The replica {} {} was lost: its supervisor is gone and left no record of its "
                  "end.",
                  role,
                  index)};
}

Failure ClassifyOrphaned(std::string_view role, std::int32_t index) {
  return {
      FailureClass::kNodeLost,
      fmt::format(
          "The replica {} {} was lost: the records in its folder were removed or closed while it "
          "ran.",
          role,
          index)};
}

}  // namespace vernier::jobs
