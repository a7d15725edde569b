#pragma once

#include <cstdint>
#include <optional>
#include <string>

// How a replica ended, and what is retried. Only std and POSIX: the supervisor of a replica and the launcher of its
// gang share these rules (docs/adr/0022-restarts-and-reruns.md).
namespace vernier::jobs {

// How the main process of a replica ended.
struct ReplicaExit {
  std::optional<std::int32_t> exit_code;
  std::optional<std::int32_t> signal;
  bool out_of_memory = false;  // It, or the host, ran out of memory.
  std::string error;           // Why the program could not be started; empty if it was.
  bool host_failed = false;    // The host is at fault for that.
  std::string lost_output;     // Why some output was not stored; empty: all was.
  friend bool operator==(const ReplicaExit&, const ReplicaExit&) = default;
};

enum class ExitKind {
  kSuccess,
  kNotStarted,  // The program could not be started.
  // The host could not start any program. Or the program failed by its own doing, and some of its output was lost.
  kHostFailed,
  kOwnStatus,    // By its own doing: a status other than 0, or a signal such as SIGFPE.
  kCrashed,      // SIGABRT, SIGSEGV: by its own doing, but often not reproducible.
  kOutOfMemory,  // Whatever the failing status was.
  kFromOutside,  // SIGKILL, SIGTERM, SIGINT, SIGHUP: ended by another process.
};

// The signal that ended it. Shells and containers report the end by signal N as status 128 + N.
std::optional<std::int32_t> SignalOf(const ReplicaExit& exit);

ExitKind KindOf(const ReplicaExit& exit);

// What is retried after such an end.
enum class Remedy {
  kNone,            // Nothing: it would fail again.
  kRerunJob,        // The whole job.
  kRestartReplica,  // The replica; the whole job once the replica has used up its restarts.
};

// The strict reading takes a status of the program's own as final; the lenient reading takes it, and a crash, as
// temporary.
Remedy RemedyOf(ExitKind kind, bool lenient);

}  // namespace vernier::jobs
