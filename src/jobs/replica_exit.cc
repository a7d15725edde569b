#include "src/jobs/replica_exit.h"

#include <csignal>

namespace vernier::jobs {
namespace {

// 128 + N for signal N is the convention of POSIX shells and container engines.
constexpr std::int32_t kSignalBase = 128;

// Programs do not send these to themselves; the kernel, a person or another program does.
bool IsFromOutside(std::int32_t signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

bool IsCrash(std::int32_t signal) { return signal == SIGABRT || signal == SIGSEGV; }

}  // namespace

std::optional<std::int32_t> SignalOf(const ReplicaExit& exit) {
  if (exit.signal.has_value()) return exit.signal;
  if (exit.exit_code.has_value() && *exit.exit_code > kSignalBase &&
      *exit.exit_code < kSignalBase + NSIG) {
    return *exit.exit_code - kSignalBase;
  }
  return std::nullopt;
}

ExitKind KindOf(const ReplicaExit& exit) {
  if (!exit.error.empty()) return exit.host_failed ? ExitKind::kHostFailed : ExitKind::kNotStarted;
  const std::optional<std::int32_t> signal = SignalOf(exit);
  if (!signal.has_value() && exit.exit_code.value_or(0) == 0) return ExitKind::kSuccess;
  // Before the signal: the kernel's kill for memory is a SIGKILL, and a restart would run out of memory again.
  if (exit.out_of_memory) return ExitKind::kOutOfMemory;
  const bool is_from_outside = signal.has_value() && IsFromOutside(*signal);
  if (is_from_outside) return ExitKind::kFromOutside;
  // If its output was lost, it may have failed to write other files too.
  if (!exit.lost_output.empty()) return ExitKind::kHostFailed;
  if (!signal.has_value()) return ExitKind::kOwnStatus;
  return IsCrash(*signal) ? ExitKind::kCrashed : ExitKind::kOwnStatus;
}

Remedy RemedyOf(ExitKind kind, bool lenient) {
  switch (kind) {
    case ExitKind::kFromOutside:
      return Remedy::kRestartReplica;
    case ExitKind::kHostFailed:
      return Remedy::kRerunJob;
    case ExitKind::kCrashed:
      return lenient ? Remedy::kRestartReplica : Remedy::kRerunJob;
    case ExitKind::kOwnStatus:
      return lenient ? Remedy::kRestartReplica : Remedy::kNone;
    default:
      return Remedy::kNone;
  }
}

}  // namespace vernier::jobs
