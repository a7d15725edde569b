// vernier-supervisor DIRECTORY: supervises one replica, whose files are in DIRECTORY (src/launch/replica_files.h).
//
// Exits as soon as it is decided which process supervises the replica; if it is this one, a child goes on in the
// background. Exit status: 0, the replica has or had a supervisor, or was barred from starting; 2, usage; 3, the
// directory cannot be used, with the reason on stderr; 5, its disk is full.
//
// A replica is started at most once (docs/adr/0005-a-supervisor-for-each-replica.md): first the lock is taken, then the
// start marker is created with O_EXCL, and only the process that did both goes on. If it is killed then, a marker
// without a lock is left, which the launcher reads as a lost replica, never as one to start again.
//
// vernier-supervisor --task DIRECTORY: supervises one replica of the attempt in DIRECTORY, in the foreground: the one of
// this task of a Slurm job (task.h).
//
// vernier-supervisor --remove DIRECTORY: removes the container of a replica whose supervisor is gone, in the
// background.
//
// vernier-supervisor --gpus: lists the NVIDIA devices of this host (nvml.h). Exit status: 4, the driver gives no
// answer. A separate program does this because a driver in trouble may never answer, and because memory and threads of
// the driver's library remain in the process that loaded it.
//
// vernier-supervisor --watch-gpus MS: prints what the devices do every MS milliseconds, until nobody reads it.

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "src/launch/replica_files.h"
#include "src/launch/supervisor/container.h"
#include "src/launch/supervisor/nvml.h"
#include "src/launch/supervisor/supervise.h"
#include "src/launch/supervisor/task.h"

namespace vernier::launch {
namespace {

// Exit statuses. src/launch/gang/replica_records.cc tests for kNoRoom.
constexpr int kOk = 0;
constexpr int kUsage = 2;
constexpr int kUnusable = 3;
constexpr int kNoDriver = 4;
constexpr int kNoRoom = 5;

int Unusable(const char* what) {
  const int error = errno;
  std::fprintf(stderr, "vernier-supervisor: %s: %s\n", what, std::strerror(error));
  return IsDiskFull(error) ? kNoRoom : kUnusable;
}

void BlockSignals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGHUP, SIGCHLD, SIGPIPE}) sigaddset(&blocked, signal);
  for (const int signal : kStopSignals) sigaddset(&blocked, signal);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  // A process that ignores SIGCHLD passes that on through exec, and its children could not be waited for (wait(2)).
  std::signal(SIGCHLD, SIG_DFL);
}

// An OFD lock (fcntl(2)) belongs to the open file description, which the background process inherits. It is held
// without a gap until the last process that has the description open ends, in whatever way.
bool Lock(int fd) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

void LeaveTheLauncher(int lock) {
  setsid();
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
  // Close every inherited descriptor but the lock, which the program must not inherit: its descendants would hold it
  // after the supervisor's end, and the replica would seem to run.
  const int kept = dup2(lock, STDERR_FILENO + 1);
  fcntl(kept, F_SETFD, FD_CLOEXEC);
  close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void WriteIdentity(int lock) {
  const int self = getpid();
  const std::string identity =
      std::to_string(self) + " " + std::to_string(ProcessStartTime(self).value_or(0)) + "\n";
  // The identity only makes stopping faster: without it the launcher searches /proc for the supervisor.
  if (pwrite(lock, identity.data(), identity.size(), 0) < 0) return;
}

int Main(const char* directory) {
  BlockSignals();
  if (chdir(directory) != 0) return Unusable(directory);
  const int lock = open(kLockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return Unusable(kLockFile);
  if (!Lock(lock)) return errno == EAGAIN || errno == EACCES ? kOk : Unusable(kLockFile);
  if (!CreateMarker(kStartedFile)) return errno == EEXIST ? kOk : Unusable(kStartedFile);
  const pid_t background = fork();
  if (background < 0) return Unusable("fork");
  if (background > 0) return kOk;
  LeaveTheLauncher(lock);
  WriteIdentity(STDERR_FILENO + 1);
  // Make the marker durable before the program starts: it must not run a second time after a power failure.
  SyncFolder(".");
  Supervise();
  return kOk;
}

// Retries for at least half a minute, a choice: an engine that is busy or restarting may answer later.
void RemoveContainer() {
  constexpr int kRounds = 30;
  constexpr int kPauseMs = 1000;
  const std::optional<SupervisedProgram> program =
      DecodeProgram(ReadWholeFile(kProgramFile).value_or(""));
  if (!program.has_value()) return;
  const Container container(program->container);
  for (int round = 0; round < kRounds && !container.Remove().empty(); ++round) {
    poll(nullptr, 0, kPauseMs);
  }
}

int RemoveInBackground(const char* directory) {
  if (chdir(directory) != 0) return Unusable(directory);
  const pid_t background = fork();
  if (background < 0) return Unusable("fork");
  if (background > 0) return kOk;
  setsid();
  close_range(STDERR_FILENO + 1, ~0U, 0);
  RemoveContainer();
  return kOk;
}

int PrintGpus() {
  const std::optional<std::string> lines = ListGpus();
  if (!lines.has_value()) return kNoDriver;
  return std::fputs(lines->c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? kUnusable : kOk;
}

// Prints a sample after each pause, followed by an empty line, until the reader is gone.
int PrintGpuUse(const char* pause) {
  const int milliseconds = std::atoi(pause);
  if (milliseconds <= 0) return kUsage;
  std::signal(SIGPIPE, SIG_IGN);
  WatchGpus([&](const std::string& lines) {
    if (std::fputs((lines + "\n").c_str(), stdout) < 0 || std::fflush(stdout) != 0) return false;
    pollfd output{STDOUT_FILENO, 0, 0};
    // With no events asked for, poll reports only POLLERR or POLLHUP, which mean that the reader is gone (poll(2)).
    return poll(&output, 1, milliseconds) == 0;
  });
  return kNoDriver;
}

}  // namespace
}  // namespace vernier::launch

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--remove") == 0) {
    return vernier::launch::RemoveInBackground(argv[2]);
  }
  if (argc == 3 && std::strcmp(argv[1], "--watch-gpus") == 0) {
    return vernier::launch::PrintGpuUse(argv[2]);
  }
  if (argc == 3 && std::strcmp(argv[1], "--task") == 0) {
    vernier::launch::BlockSignals();
    return vernier::launch::RunTask(argv[2]);
  }
  if (argc != 2) {
    std::fprintf(
        stderr,
        "usage: vernier-supervisor DIRECTORY | --task DIRECTORY | --remove DIRECTORY | --gpus | "
        "--watch-gpus MS\n");
    return vernier::launch::kUsage;
  }
  if (std::strcmp(argv[1], "--gpus") == 0) return vernier::launch::PrintGpus();
  return vernier::launch::Main(argv[1]);
}
