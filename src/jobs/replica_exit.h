#pragma once

#include <cstdint>
#include <optional>
#include <string>

// How a replica ended, and what is tried again because of it. Nothing but std and POSIX: the supervisor of a replica and
// the launcher of its gang go by the same words.
namespace vernier::jobs {

// How the main process of a replica ended.
struct ReplicaExit {
  std::optional<std::int32_t> exit_code;
  std::optional<std::int32_t> signal;
  bool out_of_memory = false;  // It ended so because it, or the host, ran out of memory.
  std::string error;           // Why the program could not be started; empty if it was.
  bool host_failed = false;    // And that is no fault of the program's, but the host's.
  std::string lost_output;  // Why some of its output was not kept; empty: all that is wanted was.
  friend bool operator==(const ReplicaExit&, const ReplicaExit&) = default;
};

enum class ExitKind {
  kSuccess,
  kNotStarted,  // The program could not be started at all.
  kHostFailed,  // Nor could any other have been: what runs programs here failed. Or it failed by its own doing, and some
                // of what it printed could not be written.
  kOwnStatus,   // By its own doing: a status other than 0, or a signal such as SIGFPE.
  kCrashed,     // SIGABRT, SIGSEGV: by its own doing too, but often not the same way twice.
  kOutOfMemory,  // Whatever the status was in the end, if it was no good one.
  kFromOutside,  // SIGKILL, SIGTERM, SIGINT, SIGHUP: somebody else ended it.
};

// The signal that ended it. Shells and containers report the end by signal N as status 128 + N.
std::optional<std::int32_t> SignalOf(const ReplicaExit& exit);

ExitKind KindOf(const ReplicaExit& exit);

// What is tried again after such an end.
enum class Remedy {
  kNone,            // Nothing: it would end so again.
  kRerunJob,        // The whole job.
  kRestartReplica,  // The replica; the whole job once the replica has used up its restarts.
};

// By the strict reading an own status is final; by the lenient one it may pass, as may a crash.
Remedy RemedyOf(ExitKind kind, bool lenient);

}  // namespace vernier::jobs
