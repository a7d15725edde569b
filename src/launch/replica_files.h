#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/open_file.h"
#include "src/launch/control_group.h"

// The files through which a launcher and the supervisor of a replica communicate, in the replica's folder. The format
// is described in docs/formats/attempt_directory.md. Only std and POSIX, because one supervisor runs beside every
// replica and has to stay small.
//
//   program          what to run; written by the launcher before the supervisor starts
//   supervisor.lock  locked (F_OFD_SETLK) while a supervisor lives; holds "PID START\n", START from /proc/PID/stat
//   started          created with O_EXCL, either by a supervisor, which then runs the program, once and for all, or by a
//                    launcher, which thereby prevents any supervisor from running it
//   running.json     the program runs: its process id and start time
//   output.log       the first part of its output, continued in output.log.N: src/launch/output_segments.h
//   exit-1.json, …   how its first, second, … run ended: written by its supervisor when nothing of the run is left, and
//                    before the program is restarted; there is one for each restart
//   exit.json        how its last run ended and the resources it used; written last, when nothing of it is left
namespace vernier::launch {

inline constexpr char kProgramFile[] = "program";
inline constexpr char kLockFile[] = "supervisor.lock";
inline constexpr char kStartedFile[] = "started";
inline constexpr char kRunningFile[] = "running.json";
inline constexpr char kOutputFile[] = "output.log";
inline constexpr char kExitFile[] = "exit.json";

// Name of the record of a run that was followed by another; the first run has number 1.
std::string EarlierExitFile(int run);

// Environment variable of every process of a replica, with the replica's folder as value. Identifies processes of a
// replica whose supervisor is gone.
inline constexpr char kReplicaVariable[] = "VERNIER_REPLICA_DIRECTORY";

// The command lines by which a supervisor handles the container whose client its program is. Empty: nothing to do.
struct ContainerSteps {
  // The engine runs the program as a descendant of its client, in the client's process group: the program does not
  // outlive it.
  bool within_client = false;
  // Inspects the container: prints "true|START" if it ran out of memory, else "false|START", START its start time.
  std::vector<std::string> inspect;
  std::vector<std::string> remove;  // Kills the container's processes and removes it.
  friend bool operator==(const ContainerSteps&, const ContainerSteps&) = default;
};

// The program that a supervisor runs, and how.
struct SupervisedProgram {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;  // Added to the supervisor's environment.
  // Variables, and the files from which their values are read at each start.
  std::vector<std::pair<std::string, std::string>> secrets;
  std::string directory;
  std::int64_t grace_ms = 0;      // Between TERM and KILL.
  std::int64_t output_bytes = 0;  // Limit of its stored output.
  // Most restarts; src/jobs/replica_exit.h says after which ends.
  std::int64_t restarts = 0;
  bool lenient = false;  // How an exit status of the program's own is read there.
  Share share;
  // Made before each run and removed after it; empty: no limits.
  std::vector<std::string> control_groups;
  ContainerSteps container;
  std::vector<std::string> setup;  // Run once, before the first run; empty: nothing.
  friend bool operator==(const SupervisedProgram&, const SupervisedProgram&) = default;
};

// Fields that end with a NUL byte, so that they can hold any text; the first names the version of the format. Older
// versions, which lack secrets, setup, containers, or restarts and shares, are still read: after an upgrade the
// launcher adopts replicas that an older one started.
std::string EncodeProgram(const SupervisedProgram& program);
std::optional<SupervisedProgram> DecodeProgram(std::string_view bytes);

// Most bytes of a record. A choice: far more than any record has, and a bound on the memory that a program can make the
// launcher use by writing into its own folder.
inline constexpr std::int64_t kMostRecord = std::int64_t{16} << 20;

// Returns the content of a regular file. Nothing if it cannot be read, with errno EINVAL if it is not a regular file,
// EFBIG if it has more than `most_bytes`, ELOOP if it is a symbolic link and `link` refuses those: a program may have
// put one in the place of a record. Never blocks, not even on a FIFO.
using base::OpenFile;
std::optional<std::string> ReadWholeFile(const std::string& path,
                                         std::int64_t most_bytes = kMostRecord,
                                         OpenFile::Link link = OpenFile::Link::kRefuse);

// Reserves disk space for a file of up to kReservedBytes that ReplaceFile writes later, so that a full disk does not
// prevent that. False: errno says why.
bool ReserveFile(const std::string& path);
// A choice, two blocks: a record quotes at most 2 KiB of an engine's stderr, and a verdict about 600 bytes of message.
inline constexpr std::int64_t kReservedBytes = 8192;

// Whether the errno reports a full disk or an exhausted quota.
bool IsDiskFull(int error);

// Whether the errno says that a folder is missing, is not a folder, or may not be entered. Not for errors of the disk,
// which may be temporary.
bool IsOutOfReach(int error);

// Replaces the file by write-then-rename, so that a reader sees the old or the new content. `durable`: survives a power
// failure. False: errno says why, and the old file is unchanged.
bool ReplaceFile(const std::string& path, std::string_view contents, bool durable);

// Makes the creation of files in the folder survive a power failure.
bool SyncFolder(const std::string& path);

// Creates the file, which must not exist. False with errno EEXIST if it does.
bool CreateMarker(const std::string& path);

// The start time of a process in clock ticks since boot, from /proc. Together with the process id it identifies the
// process. Nothing if there is no such process.
std::optional<std::uint64_t> ProcessStartTime(int pid);

}  // namespace vernier::launch
