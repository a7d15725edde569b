#include "src/launch/supervisor/bounded_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "src/launch/supervisor/system_time.h"

namespace vernier::launch {
namespace {

// More than any of these programs prints.
constexpr std::size_t kMostOutput = std::size_t{1} << 20;
// How often a program that has closed its output is asked whether it has ended.
constexpr int kPollMs = 5;

// As the leader of a process group, and with the signals of a fresh process, whatever this one does with them.
class SpawnSettings {
 public:
  SpawnSettings(int output, bool with_errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (with_errors) {
      posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    sigset_t signals;
    posix_spawnattr_init(&attributes_);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // Returns an errno.
  int Spawn(const std::vector<std::string>& argv, pid_t& pid) const {
    std::vector<char*> arguments;
    arguments.reserve(argv.size() + 1);
    for (const std::string& argument : argv) {
      arguments.push_back(const_cast<char*>(argument.c_str()));  // It is not written to.
    }
    arguments.push_back(nullptr);
    return posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Reads to the end. False: that did not come in time.
bool ReadAll(int fd, std::int64_t deadline_ms, std::string& text) {
  char buffer[4096];
  for (;;) {
    const std::int64_t left = deadline_ms - MonotonicMs();
    pollfd end = {.fd = fd, .events = POLLIN};
    if (left <= 0 || poll(&end, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000))) == 0) {
      return false;
    }
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(buffer, std::min(static_cast<std::size_t>(got), kMostOutput - text.size()));
  }
}

// False: it did not end in time. `status` is 0 where the process around us reaps for itself.
bool WaitFor(pid_t pid, std::int64_t deadline_ms, int& status) {
  for (;;) {
    const pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == pid || (got < 0 && errno != EINTR)) return true;
    if (MonotonicMs() >= deadline_ms) return false;
    poll(nullptr, 0, kPollMs);
  }
}

}  // namespace

BoundedRun RunBounded(const std::vector<std::string>& argv,
                      std::int64_t patience_ms,
                      bool with_errors) {
  BoundedRun run;
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    run.error = errno;
    return run;
  }
  pid_t pid = 0;
  run.error = SpawnSettings(ends[1], with_errors).Spawn(argv, pid);
  close(ends[1]);
  if (run.error != 0) {
    close(ends[0]);
    return run;
  }
  const std::int64_t deadline_ms = MonotonicMs() + patience_ms;
  const bool ended =
      ReadAll(ends[0], deadline_ms, run.output) && WaitFor(pid, deadline_ms, run.status);
  close(ends[0]);
  run.end = ended ? BoundedRun::End::kExited : BoundedRun::End::kOverdue;
  if (!ended) {
    kill(-pid, SIGKILL);
    WaitFor(pid, MonotonicMs() + std::int64_t{10} * kPollMs, run.status);
  }
  return run;
}

}  // namespace vernier::launch
