// Fork and exec by hand, not by posix_spawn (as in bounded_run.cc): the child has to enter control groups, change its
// directory and ask for a signal at its parent's death, and has to report which of these steps failed. It does so
// through a third pipe that exec closes: the parent reads either a Failure, or the end of the pipe once the program
// runs.
//
// The supervisor has one thread, so that the child may allocate and call setenv between fork and exec
// (signal-safety(7)).

#include "src/launch/supervisor/child.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "vernier/core/limits.h"

namespace vernier::launch {
namespace {

// The step that failed, as the child reports it.
enum class Step : int { kDirectory, kExec };
struct Failure {
  Step step;
  int error;
};

struct Pipes {
  int out[2] = {-1, -1};
  int err[2] = {-1, -1};
  int failure[2] = {-1, -1};
};

bool OpenPipes(Pipes& pipes) {
  return pipe2(pipes.out, O_CLOEXEC) == 0 && pipe2(pipes.err, O_CLOEXEC) == 0 &&
         pipe2(pipes.failure, O_CLOEXEC) == 0;
}

// 127 and 126 are the shell's statuses for a program that cannot be run. Nobody reads them: the parent has the Failure.
[[noreturn]] void GiveUp(int fd, Step step) {
  const Failure failure{step, errno};
  const ssize_t written = write(fd, &failure, sizeof failure);
  _exit(written == sizeof failure ? 127 : 126);
}

// exec resets handlers but keeps ignored signals and the blocked mask (execve(2)). The program must get neither: a
// program that starts with SIGTERM blocked could only be killed.
void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void RunChild(const SupervisedProgram& program,
                           const ControlGroup& group,
                           const Pipes& pipes,
                           pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the prctl took effect; then no signal will come.
  if (getppid() != parent) _exit(126);
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(pipes.out[1], STDOUT_FILENO);
  dup2(pipes.err[1], STDERR_FILENO);
  if (nothing > STDERR_FILENO) close(nothing);
  if (!group.Enter()) {
    dprintf(STDERR_FILENO,
            "[vernier] limits are not enforced: cannot enter control group: %s\n",
            std::strerror(errno));
  }
  if (chdir(program.directory.c_str()) != 0) GiveUp(pipes.failure[1], Step::kDirectory);
  for (const auto& [name, value] : program.env) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : program.argv) {
    argv.push_back(const_cast<char*>(argument.c_str()));  // execvp does not write to it.
  }
  argv.push_back(nullptr);
  ResetSignals();
  execvp(argv[0], argv.data());
  GiveUp(pipes.failure[1], Step::kExec);
}

// Waits until the child has become the program, which closes the pipe, or has reported why not.
std::optional<Failure> ReadFailure(int fd) {
  Failure failure{};
  ssize_t got = 0;
  do {
    got = read(fd, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof failure) return failure;
  return std::nullopt;
}

std::string Describe(const Failure& failure, const SupervisedProgram& program) {
  const std::string reason = std::strerror(failure.error);
  if (failure.step == Step::kDirectory) {
    return "cannot enter directory '" + program.directory + "': " + reason;
  }
  return "cannot run '" + program.argv[0] + "': " + reason;
}

std::string SecretError(const std::string& name,
                        const std::string& path,
                        const std::string& reason) {
  return "cannot read the secret of variable " + name + " from '" + path + "': " + reason;
}

// Sets each secret variable of `program` to the content of its file, without a final LF or CRLF. Returns why that is
// not possible; empty on success. Read at each start and never written down, so that a secret is in no record, and a
// restart takes a renewed one.
std::string ReadSecrets(SupervisedProgram& program) {
  for (const auto& [name, path] : program.secrets) {
    std::optional<std::string> text =
        ReadWholeFile(path, static_cast<std::int64_t>(limits::kSecret), OpenFile::Link::kFollow);
    std::string reason = text.has_value() ? "" : std::strerror(errno);
    if (!text.has_value() && errno == EINVAL) reason = "it is no regular file";
    if (!text.has_value() && errno == EFBIG) reason = "it has more than 64 KiB";
    if (text.has_value() && text->find('\0') != std::string::npos) reason = "it holds a zero byte";
    if (!reason.empty()) return SecretError(name, path, reason);
    const std::string_view end = text->ends_with("\r\n") ? "\r\n" : "\n";
    if (text->ends_with(end)) text->resize(text->size() - end.size());
    program.env.emplace_back(name, *std::move(text));
  }
  return "";
}

// Returns the parent of a process, 0 if it is gone. In /proc/PID/stat the name is in parentheses and may itself hold
// ')', so the fields are counted from the last one (proc(5)).
pid_t ParentOf(pid_t pid) {
  const std::optional<std::string> stat = ReadWholeFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.has_value()) return 0;
  const std::size_t name_end = stat->rfind(')');  // ") S 123 …"
  if (name_end == std::string::npos || name_end + 4 > stat->size()) return 0;
  pid_t parent = 0;
  std::from_chars(stat->data() + name_end + 4, stat->data() + stat->size(), parent);
  return parent;
}

}  // namespace

Child StartChild(SupervisedProgram program, const ControlGroup& group) {
  Pipes pipes;
  Child child;
  child.error = ReadSecrets(program);
  if (!child.error.empty()) return child;
  if (!OpenPipes(pipes)) {
    child.error = std::string("cannot make pipes: ") + std::strerror(errno);
    return child;
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) RunChild(program, group, pipes, parent);
  if (pid < 0) child.error = std::string("cannot fork: ") + std::strerror(errno);
  close(pipes.out[1]);
  close(pipes.err[1]);
  close(pipes.failure[1]);
  if (pid > 0) {
    // Both processes set the group, so that it exists before either uses it.
    setpgid(pid, pid);
    if (const std::optional<Failure> failure = ReadFailure(pipes.failure[0])) {
      child.error = Describe(*failure, program);
      waitpid(pid, nullptr, 0);
    } else {
      child.pid = pid;
    }
  }
  close(pipes.failure[0]);
  child.stdout_fd = pipes.out[0];
  child.stderr_fd = pipes.err[0];
  fcntl(child.stdout_fd, F_SETFL, O_NONBLOCK);
  fcntl(child.stderr_fd, F_SETFL, O_NONBLOCK);
  return child;
}

void SignalChildren(int signal) {
  DIR* const processes = opendir("/proc");
  if (processes == nullptr) return;
  const pid_t self = getpid();
  while (const dirent* const entry = readdir(processes)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    // The id of our own child cannot be reused before we have waited for it.
    if (ParentOf(pid) == self) kill(pid, signal);
  }
  closedir(processes);
}

}  // namespace vernier::launch
