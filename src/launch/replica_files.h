#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/open_file.h"
#include "src/launch/control_group.h"

// The files by which a launcher and the supervisor of one replica understand each other, in the replica's folder.
// Nothing but std and POSIX, because the supervisor is to stay small: one runs beside every replica.
//
//   program          what to run; written by the launcher before the supervisor starts
//   supervisor.lock  locked (F_OFD_SETLK) as long as a supervisor lives; holds "PID START\n", START as /proc tells it
//   started          created with O_EXCL by whoever decides: by a supervisor, which then runs the program, once and for
//                    all; or by a launcher, so that no supervisor ever will
//   running.json     the program runs: its process id, when it started
//   output.log       what it printed, and in output.log.N what it printed later: src/launch/output_segments.h
//   exit-1.json, …   how its first run ended, and its second: written when nothing of it is left, and before the program
//                    is started again, by the same supervisor; so many of them, so many restarts
//   exit.json        how its last run ended and what it used; written last, when nothing of it is left
namespace vernier::launch {

inline constexpr char kProgramFile[] = "program";
inline constexpr char kLockFile[] = "supervisor.lock";
inline constexpr char kStartedFile[] = "started";
inline constexpr char kRunningFile[] = "running.json";
inline constexpr char kOutputFile[] = "output.log";
inline constexpr char kExitFile[] = "exit.json";

// The record of a run that was followed by another; the first is run 1.
std::string EarlierExitFile(int run);

// A variable that every process of a replica has, with the replica's folder: how they are found when their supervisor
// is gone.
inline constexpr char kReplicaVariable[] = "VERNIER_REPLICA_DIRECTORY";

// How a supervisor looks after the container whose client its program is. Command lines; empty ones: nothing is to be done.
struct ContainerSteps {
  // The engine runs the program below its client, in whose process group it is: nothing of it outlives the two.
  bool within_client = false;
  // Tells what became of it: "true|TIME" after a kill for want of memory, TIME its start.
  std::vector<std::string> inspect;
  std::vector<std::string> remove;  // Kills what runs in it, and removes it.
  friend bool operator==(const ContainerSteps&, const ContainerSteps&) = default;
};

// What one supervisor runs.
struct SupervisedProgram {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;  // Added to the supervisor's own.
  // Variables whose values are read from these files at each start.
  std::vector<std::pair<std::string, std::string>> secrets;
  std::string directory;
  std::int64_t grace_ms = 0;      // Between TERM and KILL.
  std::int64_t output_bytes = 0;  // At most so much of what it prints is kept.
  // So often it is started again, where src/jobs/replica_exit.h says so.
  std::int64_t restarts = 0;
  bool lenient = false;  // How an own status is read there.
  Share share;
  // Made for each run and removed after it; empty: it is held to nothing.
  std::vector<std::string> control_groups;
  ContainerSteps container;
  std::vector<std::string> setup;  // Run once, before its first run; empty: nothing is.
  friend bool operator==(const SupervisedProgram&, const SupervisedProgram&) = default;
};

// Fields that end with a NUL byte, so that any text is safe; the first names the form. Older forms, which know no secrets, no setup, no
// containers, or neither restarts nor shares, are read too.
std::string EncodeProgram(const SupervisedProgram& program);
std::optional<SupervisedProgram> DecodeProgram(std::string_view bytes);

// Bytes of a record, at most.
inline constexpr std::int64_t kMostRecord = std::int64_t{16} << 20;

// The whole of a regular file; nothing if it cannot be read, with errno EINVAL if it is something else, EFBIG if it has
// more than `most_bytes`, ELOOP if it is a symbolic link and these are refused: a program may have put one in the place of
// a record. Waits for nothing.
using base::OpenFile;
std::optional<std::string> ReadWholeFile(const std::string& path,
                                         std::int64_t most_bytes = kMostRecord,
                                         OpenFile::Link link = OpenFile::Link::kRefuse);

// Makes room on the disk for a file of up to kReservedBytes that ReplaceFile is to write later: a full disk is then no
// obstacle to it. False: errno says why not.
bool ReserveFile(const std::string& path);
inline constexpr std::int64_t kReservedBytes = 8192;

// Whether the error, an errno, is that of a disk without room, or of a spent quota.
bool IsDiskFull(int error);

// Whether the error, an errno, says that a folder is gone, is none any more or may not be entered; not that a disk fails,
// which may pass.
bool IsOutOfReach(int error);

// Replaces the file by write-then-rename, so that a reader sees the old or the new one. `durable`: survives power loss.
// False: errno says why, and the old one stands.
bool ReplaceFile(const std::string& path, std::string_view contents, bool durable);

// Makes what was created in the folder survive power loss.
bool SyncFolder(const std::string& path);

// Creates the file, which must not exist. False with errno EEXIST if it does.
bool CreateMarker(const std::string& path);

// The start time of a process in clock ticks since boot, as /proc tells it: with its id, its identity. Nothing if there
// is no such process.
std::optional<std::uint64_t> ProcessStartTime(int pid);

}  // namespace vernier::launch
