#include "src/jobs/failure.h"

#include <csignal>

#include "fmt/format.h"

namespace vernier::jobs {
namespace {

// Shells and containers report the end by signal N as status 128 + N.
constexpr std::int32_t kSignalBase = 128;

std::optional<std::int32_t> SignalOf(const ReplicaExit& exit) {
  if (exit.signal.has_value()) return exit.signal;
  if (exit.exit_code.has_value() && *exit.exit_code > kSignalBase &&
      *exit.exit_code < kSignalBase + NSIG) {
    return *exit.exit_code - kSignalBase;
  }
  return std::nullopt;
}

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

// Only somebody outside of the program sends these.
bool IsFromOutside(std::int32_t signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

}  // namespace

Failure Classify(std::string_view role, std::int32_t index, const ReplicaExit& exit) {
  if (!exit.error.empty()) {
    return {FailureClass::kUserError,
            fmt::format("The replica {} {} could not be started: {}.", role, index, exit.error)};
  }
  const std::optional<std::int32_t> signal = SignalOf(exit);
  const std::int32_t code = exit.exit_code.value_or(signal.value_or(0));
  if (code == 0) return {};
  const std::string status =
      signal.has_value() ? fmt::format("{}({})", code, SignalName(*signal)) : std::to_string(code);
  if (exit.out_of_memory) {
    return {
        FailureClass::kOutOfMemory,
        fmt::format("The replica {} {} ran out-of-memory and exited with a non-zero status of {}.",
                    role,
                    index,
                    status)};
  }
  if (!signal.has_value()) {
    return {FailureClass::kUserError,
            fmt::format("The replica {} {} exited with a non-zero status of {}. "
                        "Termination reason: Error.",
                        role,
                        index,
                        status)};
  }
  const bool outside = IsFromOutside(*signal);
  return {outside ? FailureClass::kPreempted : FailureClass::kUserError,
          fmt::format("The replica {} {} exited with a non-zero status of {}. "
                      "Termination reason: {}.",
                      role,
                      index,
                      status,
                      outside ? "ended from outside" : "crashed")};
}

Failure ClassifyLost(std::string_view role, std::int32_t index) {
  return {
      FailureClass::kNodeLost,
      fmt::format("The replica {} {} was lost: its supervisor is gone and left no record of its "
                  "end.",
                  role,
                  index)};
}

}  // namespace vernier::jobs
