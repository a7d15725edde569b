#include "src/launch/local/bounded_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "src/core/status.h"
#include "src/launch/supervisor/system_time.h"

namespace vernier::launch {
namespace {

// More than any of these programs prints.
constexpr std::size_t kMostOutput = std::size_t{1} << 20;
// How often a program that has closed its output is asked whether it has ended.
constexpr int kPollMs = 5;

// Starts the program as the leader of a process group. Returns an errno.
int Spawn(const std::vector<std::string>& argv, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // It is not written to.
  }
  arguments.push_back(nullptr);
  const int error =
      posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// Reads to the end. False: that did not come in time.
bool ReadAll(int fd, std::int64_t deadline_ms, std::string& text) {
  std::array<char, 4096> buffer = {};
  while (text.size() < kMostOutput) {
    const std::int64_t left = deadline_ms - MonotonicMs();
    pollfd end = {.fd = fd, .events = POLLIN};
    if (left <= 0 || poll(&end, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000))) == 0) {
      return false;
    }
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return true;
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

absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& argv,
                                     absl::Duration patience) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Unavailable("no pipe: {}", std::strerror(errno));
  pid_t pid = 0;
  const int error = Spawn(argv, ends[1], pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    if (error == ENOENT) return NotFound("there is no program '{}'", argv[0]);
    return Unavailable("cannot run '{}': {}", argv[0], std::strerror(error));
  }
  const std::int64_t deadline_ms = MonotonicMs() + absl::ToInt64Milliseconds(patience);
  std::string text;
  int status = 0;
  const bool ended = ReadAll(ends[0], deadline_ms, text) && WaitFor(pid, deadline_ms, status);
  close(ends[0]);
  if (!ended) {
    kill(-pid, SIGKILL);
    WaitFor(pid, MonotonicMs() + std::int64_t{10} * kPollMs, status);
    return DeadlineExceeded(
        "'{}' did not answer within {}", argv[0], absl::FormatDuration(patience));
  }
  if (status != 0) return Unavailable("'{}' failed", argv[0]);
  return text;
}

}  // namespace vernier::launch
