// vernier-supervisor DIRECTORY: looks after one replica, whose files are in DIRECTORY (src/launch/replica_files.h).
//
// Returns as soon as it is decided who looks after the replica; goes on in the background if that is this process. Exit
// status: 0, somebody does, or did, or never shall; 2, usage; 3, the directory cannot be used, the reason is on stderr; 5,
// its disk is full.
//
// vernier-supervisor --remove DIRECTORY: removes the container of a replica that has no supervisor any more, in the background.
//
// vernier-supervisor --gpus: lists the NVIDIA devices of this host (nvml.h). Exit status: 4, the driver does not tell.
// A program of its own does it, because a driver in trouble may never answer, and because what the driver's library takes
// and starts in a process stays there.

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

namespace vernier::launch {
namespace {

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
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE}) sigaddset(&blocked, signal);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  std::signal(
      SIGCHLD,
      SIG_DFL);  // Whoever started us may have it ignored, and then nobody could be waited for.
}

// The lock belongs to the open file, which the background process inherits: it is held without a gap until the last
// process that has the file open is gone, however it ends.
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
  // Of what was inherited only the lock stays, and not for the program.
  const int kept = dup2(lock, STDERR_FILENO + 1);
  fcntl(kept, F_SETFD, FD_CLOEXEC);
  close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void WriteIdentity(int lock) {
  const int self = getpid();
  const std::string identity =
      std::to_string(self) + " " + std::to_string(ProcessStartTime(self).value_or(0)) + "\n";
  if (pwrite(lock, identity.data(), identity.size(), 0) < 0) return;  // It only helps to stop us.
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
  SyncFolder(".");  // The marker: after a power failure too the program must not run again.
  Supervise();
  return kOk;
}

// An engine that is busy, or being started again, may answer later.
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

// A sample after each pause, with an empty line behind it, until nobody reads them any more.
int PrintGpuUse(const char* pause) {
  const int milliseconds = std::atoi(pause);
  if (milliseconds <= 0) return kUsage;
  std::signal(SIGPIPE, SIG_IGN);
  WatchGpus([&](const std::string& lines) {
    if (std::fputs((lines + "\n").c_str(), stdout) < 0 || std::fflush(stdout) != 0) return false;
    pollfd output{STDOUT_FILENO, 0, 0};
    return poll(&output, 1, milliseconds) == 0;  // Else its reader is gone.
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
  if (argc != 2) {
    std::fprintf(
        stderr,
        "usage: vernier-supervisor DIRECTORY | --remove DIRECTORY | --gpus | --watch-gpus MS\n");
    return vernier::launch::kUsage;
  }
  if (std::strcmp(argv[1], "--gpus") == 0) return vernier::launch::PrintGpus();
  return vernier::launch::Main(argv[1]);
}
