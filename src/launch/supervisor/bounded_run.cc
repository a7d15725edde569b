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
#include <optional>
#include <utility>

#include "src/launch/supervisor/system_time.h"

namespace vernier::launch {
namespace {

// Pause between checks whether a program that has closed its output has ended. A choice: such a program ends within
// milliseconds, and a wait with a deadline would need SIGCHLD, which belongs to the caller.
constexpr int kPollMs = 5;
// Longest single poll: its timeout is an int of milliseconds. A choice; the loop polls again.
constexpr std::int64_t kLongestPollMs = 60'000;

// The program leads a process group of its own, so that it is killed with its children. It gets the signal handling of
// a fresh process: the supervisor blocks signals, and exec would pass the blocked mask on (execve(2)).
class SpawnSettings {
 public:
  // `errors`: a descriptor, or none.
  SpawnSettings(int output, std::optional<int> errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (errors.has_value()) {
      posix_spawn_file_actions_adddup2(&actions_, *errors, STDERR_FILENO);
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
  int Spawn(const std::vector<std::string>& argv,
            const std::vector<std::string>& environment,
            pid_t& pid) const {
    std::vector<char*> arguments = Pointers(argv);
    std::vector<char*> variables = Pointers(environment);
    return posix_spawnp(&pid,
                        arguments[0],
                        &actions_,
                        &attributes_,
                        arguments.data(),
                        environment.empty() ? environ : variables.data());
  }

 private:
  // Ends with a null pointer. What it points to is not written to.
  static std::vector<char*> Pointers(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// One end of a pipe, and what was read from it.
struct Source {
  int fd = -1;
  std::string* text = nullptr;
};

// Reads all to their ends. False: the deadline passed first.
bool ReadAll(std::vector<Source> sources, std::int64_t deadline_ms, std::size_t most_output) {
  char buffer[65536];  // A pipe's capacity (pipe(7)).
  while (!sources.empty()) {
    const std::int64_t left = deadline_ms - MonotonicMs();
    std::vector<pollfd> ends;
    ends.reserve(sources.size());
    for (const Source& source : sources) ends.push_back({.fd = source.fd, .events = POLLIN});
    if (left <= 0) return false;
    poll(ends.data(), ends.size(), static_cast<int>(std::min<std::int64_t>(left, kLongestPollMs)));
    for (std::size_t i = sources.size(); i-- > 0;) {
      if (ends[i].revents == 0) continue;
      const ssize_t got = read(sources[i].fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      std::string& text = *sources[i].text;
      if (got <= 0) {
        sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        text.append(buffer, std::min(static_cast<std::size_t>(got), most_output - text.size()));
      }
    }
  }
  return true;
}

// Waits for the program. False: the deadline passed first. `status` is 0 if somebody else has reaped the program.
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
                      ErrorOutput errors,
                      std::size_t most_output,
                      const std::vector<std::string>& environment) {
  BoundedRun run;
  const bool is_apart = errors == ErrorOutput::kApart;
  int output[2] = {-1, -1};
  int apart[2] = {-1, -1};
  if (pipe2(output, O_CLOEXEC) != 0) {
    run.error = errno;
    return run;
  }
  if (is_apart && pipe2(apart, O_CLOEXEC) != 0) {
    run.error = errno;
    close(output[0]);
    close(output[1]);
    return run;
  }
  std::optional<int> errors_to;
  if (errors == ErrorOutput::kMerged) errors_to = output[1];
  if (is_apart) errors_to = apart[1];
  pid_t pid = 0;
  run.error = SpawnSettings(output[1], errors_to).Spawn(argv, environment, pid);
  close(output[1]);
  if (is_apart) close(apart[1]);
  if (run.error == 0) {
    std::vector<Source> sources = {{output[0], &run.output}};
    if (is_apart) sources.push_back({apart[0], &run.errors});
    const std::int64_t deadline_ms = MonotonicMs() + patience_ms;
    const bool ended = ReadAll(std::move(sources), deadline_ms, most_output) &&
                       WaitFor(pid, deadline_ms, run.status);
    run.end = ended ? BoundedRun::End::kExited : BoundedRun::End::kOverdue;
    if (!ended) {
      // The short wait after SIGKILL only avoids a zombie where it can. A process stuck in a driver does not die, and is
      // left.
      kill(-pid, SIGKILL);
      WaitFor(pid, MonotonicMs() + std::int64_t{10} * kPollMs, run.status);
    }
  }
  close(output[0]);
  if (is_apart) close(apart[0]);
  return run;
}

}  // namespace vernier::launch
