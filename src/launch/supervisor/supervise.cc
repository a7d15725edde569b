#include "src/launch/supervisor/supervise.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/jobs/replica_exit.h"
#include "src/launch/control_group.h"
#include "src/launch/replica_files.h"
#include "src/launch/supervisor/bounded_run.h"
#include "src/launch/supervisor/child.h"
#include "src/launch/supervisor/container.h"
#include "src/launch/supervisor/output_capture.h"
#include "src/launch/supervisor/output_writer.h"
#include "src/launch/supervisor/system_time.h"

namespace vernier::launch {
namespace {

// How long a pipe may stay open after the last process of ours is gone: somebody else holds its other end.
constexpr std::int64_t kDrainMs = 500;
// How often to try again to write the record of the end, where the disk is full.
constexpr int kRetryMs = 1000;
// So long where the folder may not be entered: a program that closes its own does not open it again.
constexpr int kClosedMs = 3000;
// So much of the end of its standard error is kept to say why an engine failed.
constexpr std::size_t kTailBytes = 2048;
// How often to look again for processes to kill.
constexpr std::int64_t kKillIntervalMs = 100;
// How long it may take to unpack a program's code.
constexpr std::int64_t kSetupMs = 600'000;

// How many processes of this host were killed for want of memory since it booted.
std::int64_t OutOfMemoryKills() {
  const std::string stat = ReadWholeFile("/proc/vmstat").value_or("");
  constexpr std::string_view kKey = "\noom_kill ";
  const std::size_t at = stat.find(kKey);
  std::int64_t kills = 0;
  if (at != std::string::npos) {
    std::from_chars(stat.data() + at + kKey.size(), stat.data() + stat.size(), kills);
  }
  return kills;
}

std::string JsonText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      quoted += '?';
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// One run of the program.
struct Ending {
  jobs::ReplicaExit exit;
  bool was_told = false;  // Somebody told us to bring it down.
  std::string started;
  std::string ended;
  double cpu_seconds = 0;
  std::int64_t peak_memory_bytes = 0;
};

std::string ToJson(const Ending& ending) {
  const auto number = [](const std::optional<int>& value) {
    return value.has_value() ? std::to_string(*value) : std::string("null");
  };
  const jobs::ReplicaExit& exit = ending.exit;
  return "{\"exit_code\":" + number(exit.exit_code) + ",\"signal\":" + number(exit.signal) +
         ",\"out_of_memory\":" + (exit.out_of_memory ? "true" : "false") +
         ",\"error\":" + JsonText(exit.error) +
         ",\"host_failed\":" + (exit.host_failed ? "true" : "false") +
         ",\"lost_output\":" + JsonText(exit.lost_output) +
         ",\"started\":" + JsonText(ending.started) + ",\"ended\":" + JsonText(ending.ended) +
         ",\"cpu_seconds\":" + std::to_string(ending.cpu_seconds) +
         ",\"peak_memory_bytes\":" + std::to_string(ending.peak_memory_bytes) + "}\n";
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Adds what a process used that has ended, with those that it waited for itself.
void AddUsage(const rusage& used, Ending& ending) {
  ending.cpu_seconds += Seconds(used.ru_utime) + Seconds(used.ru_stime);
  ending.peak_memory_bytes =
      std::max(ending.peak_memory_bytes, std::int64_t{used.ru_maxrss} * 1024);
}

// What all processes of the run used. Without a control group the time of those that nobody waited for is missing, and
// the memory is that of the largest one.
void RecordUsage(const ControlGroup& group, Ending& ending) {
  ending.cpu_seconds = group.CpuSeconds().value_or(ending.cpu_seconds);
  ending.peak_memory_bytes = group.PeakMemory().value_or(ending.peak_memory_bytes);
}

// A full disk must not lose how a replica ended. False: the folder itself is gone, or stays closed to us: nobody asks any
// more.
bool RecordEnding(const std::string& file, const Ending& ending) {
  int closed_ms = 0;
  while (!ReplaceFile(file, ToJson(ending), /*durable=*/true)) {
    if (errno == ENOENT) return false;
    if (errno == EACCES && (closed_ms += kRetryMs) > kClosedMs) return false;
    poll(nullptr, 0, kRetryMs);
  }
  return true;
}

// Looks from before the program starts whether the memory runs out.
class MemoryWatch {
 public:
  explicit MemoryWatch(const ControlGroup& group)
      : group_(group),
        group_kills_(group.OutOfMemoryKills().value_or(0)),
        host_kills_(OutOfMemoryKills()) {}

  // Whether the program ended so for want of memory. The control group tells for certain whether any process of the
  // replica was killed; the program itself may then end in its own way. Without a group, a SIGKILL while the host killed
  // something is taken for one.
  bool WasFatal(const jobs::ReplicaExit& exit) const {
    if (const std::optional<std::int64_t> kills = group_.OutOfMemoryKills()) {
      return *kills > group_kills_ && exit.exit_code != 0;
    }
    return jobs::SignalOf(exit) == SIGKILL && OutOfMemoryKills() > host_kills_;
  }

 private:
  const ControlGroup& group_;
  const std::int64_t group_kills_;
  const std::int64_t host_kills_;
};

// One pipe from the program, and the lines that come out of it.
struct Stream {
  int fd;
  LineCutter cutter;
  std::string tail = {};  // The last bytes.
};

class Supervisor {
 public:
  Supervisor(const SupervisedProgram& program,
             const Child& child,
             const ControlGroup& group,
             const MemoryWatch& memory,
             const Container& container,
             OutputWriter& log)
      : grace_ms_(program.grace_ms),
        child_(child),
        group_(group),
        memory_(memory),
        container_(container),
        out_{child.stdout_fd, LineCutter('O')},
        err_{child.stderr_fd, LineCutter('E')},
        log_(log),
        signals_(OpenSignals()) {}
  ~Supervisor() { close(signals_); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // A line of the replica's output that is ours.
  void Say(const std::string& text) { log_.Write(log_.Stamp() + " E [vernier] " + text + "\n"); }

  // Until nothing of the program is left. Returns how its main process ended.
  Ending Run() {
    Reap();  // What ended before the signals were listened to.
    while (!Done()) {
      Wait();
      Drain(out_);
      Drain(err_);
      HandleSignals();
      Escalate();
    }
    Finish(out_);
    Finish(err_);
    return ending_;
  }

 private:
  static int OpenSignals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGCHLD);
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  bool Done() const {
    if (!empty_at_.has_value()) return false;
    return (out_.fd < 0 && err_.fd < 0) || MonotonicMs() >= *empty_at_ + kDrainMs;
  }

  // Milliseconds until something must be done without being woken; -1: nothing.
  int Timeout() const {
    std::optional<std::int64_t> at = kill_at_;
    if (empty_at_.has_value()) at = *empty_at_ + kDrainMs;
    if (!at.has_value()) return -1;
    return static_cast<int>(std::clamp<std::int64_t>(*at - MonotonicMs(), 0, 60'000));
  }

  void Wait() {
    pollfd fds[] = {{signals_, POLLIN, 0}, {out_.fd, POLLIN, 0}, {err_.fd, POLLIN, 0}};
    poll(fds, 3, Timeout());
  }

  // Takes what is there, but not for ever: a program that prints without end must not keep us from its signals.
  void Drain(Stream& stream) {
    char buffer[65536];
    for (int round = 0; stream.fd >= 0 && round < 16; ++round) {
      const ssize_t got = read(stream.fd, buffer, sizeof buffer);
      if (got < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        Finish(stream);
      } else if (got == 0) {
        Finish(stream);
      } else {
        Take(stream, {buffer, static_cast<std::size_t>(got)});
      }
    }
  }

  void Take(Stream& stream, std::string_view bytes) {
    std::string lines;
    stream.cutter.Feed(bytes, log_.Stamp(), lines);
    log_.Write(lines);
    stream.tail.append(bytes);
    if (stream.tail.size() > kTailBytes) stream.tail.erase(0, stream.tail.size() - kTailBytes);
  }

  void Finish(Stream& stream) {
    if (stream.fd < 0) return;
    close(stream.fd);
    stream.fd = -1;
    std::string lines;
    stream.cutter.Finish(log_.Stamp(), lines);
    log_.Write(lines);
  }

  void HandleSignals() {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGCHLD) continue;  // Several may have become one; Reap looks at all.
      ending_.was_told = true;
      BeginStop();
    }
    Reap();
  }

  void Reap() {
    int status = 0;
    rusage used{};
    pid_t pid = 0;
    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
      AddUsage(used, ending_);
      if (pid == child_.pid) RecordEnd(status);
    }
    if (pid < 0 && errno == ECHILD && !empty_at_.has_value()) empty_at_ = MonotonicMs();
  }

  void RecordEnd(int status) {
    ending_.ended = TimeStamp();
    jobs::ReplicaExit& exit = ending_.exit;
    if (WIFEXITED(status)) exit.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
    Drain(err_);
    container_.Explain(err_.tail, exit);
    const bool by_itself = !kill_at_.has_value();
    exit.out_of_memory = by_itself && (exit.out_of_memory || memory_.WasFatal(exit));
    BeginStop();  // Of what it left behind.
    RemoveContainer();
  }

  void RemoveContainer() {
    if (container_.Remove().empty()) return;
    // Where the engine's own process for it was killed, what it ran has become ours: the engine waits for its end until it
    // is reaped.
    rusage used = {};
    while (wait4(-1, nullptr, WNOHANG, &used) > 0) AddUsage(used, ending_);
    const std::string problem = container_.Remove();
    if (!problem.empty()) Say("the container cannot be removed: " + problem);
  }

  void BeginStop() {
    if (kill_at_.has_value()) return;
    kill(-child_.pid, SIGTERM);
    kill(-child_.pid, SIGCONT);
    kill_at_ = MonotonicMs() + grace_ms_;
  }

  // Once the grace period is over, again and again: what we kill may leave children to us, to be killed in their turn.
  void Escalate() {
    if (empty_at_.has_value() || !kill_at_.has_value() || MonotonicMs() < *kill_at_) return;
    kill(-child_.pid, SIGKILL);
    SignalChildren(SIGKILL);
    group_.Kill();
    kill_at_ = MonotonicMs() + kKillIntervalMs;
  }

  const std::int64_t grace_ms_;
  const Child child_;
  const ControlGroup& group_;
  const MemoryWatch& memory_;
  const Container& container_;
  Stream out_;
  Stream err_;
  OutputWriter& log_;
  const int signals_;
  Ending ending_;
  std::optional<std::int64_t> kill_at_;   // Set once a stop has begun.
  std::optional<std::int64_t> empty_at_;  // Since when no process is left.
};

// What is wrong with what it needs before its first run; empty: nothing.
std::string SetUp(const SupervisedProgram& program) {
  if (program.setup.empty()) return "";
  const BoundedRun run = RunBounded(program.setup, kSetupMs, /*with_errors=*/true);
  if (run.end == BoundedRun::End::kExited && run.status == 0) return "";
  if (run.end == BoundedRun::End::kOverdue) return "unpacking its code takes too long";
  if (run.end == BoundedRun::End::kNotRun) {
    return "its code cannot be unpacked: " + program.setup.front() + ": " +
           std::strerror(run.error);
  }
  const std::string_view said = run.output;
  return "its code cannot be unpacked: " + std::string(said.substr(0, said.find('\n')));
}

// Why output was given up, for people; empty: none was.
std::string LostOutput(int error) {
  if (error == 0) return "";
  if (error == ENOENT) return "its file was removed";
  const char* const what =
      IsDiskFull(error) ? "the disk of the runs was full" : "it was not written";
  return std::string(what) + " (" + std::strerror(error) + ")";
}

// Whether a command says that it had no room on the disk.
bool SaysDiskFull(std::string_view said) {
  return said.find(std::strerror(ENOSPC)) != said.npos ||
         said.find(std::strerror(EDQUOT)) != said.npos;
}

// Runs the program once, until nothing of it is left.
Ending RunOnce(const SupervisedProgram& program, OutputWriter& log) {
  Ending ending;
  const Container container(program.container);
  container.Remove();  // What an earlier run left, whose name this one takes.
  const ControlGroup group(program.control_groups);
  const std::string problem = group.Create(program.share);
  const MemoryWatch memory(group);
  const std::string started = TimeStamp();
  const Child child = StartChild(program, group);
  if (child.pid < 0) {
    ending.exit.error = child.error;
  } else {
    ReplaceFile(
        kRunningFile,
        "{\"process\":" + std::to_string(child.pid) + ",\"started\":" + JsonText(started) + "}\n",
        /*durable=*/false);
    Supervisor supervisor(program, child, group, memory, container, log);
    if (!problem.empty()) supervisor.Say("limits are not enforced: " + problem);
    ending = supervisor.Run();
  }
  ending.exit.lost_output = LostOutput(log.error());
  RecordUsage(group, ending);
  group.Remove();
  ending.started = started;
  if (ending.ended.empty()) ending.ended = TimeStamp();
  return ending;
}

// A stop that came when nothing ran.
bool IsStopPending() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

bool IsToRestart(const SupervisedProgram& program, int run, const Ending& ending) {
  if (run > program.restarts || ending.was_told || IsStopPending()) return false;
  return jobs::RemedyOf(jobs::KindOf(ending.exit), program.lenient) ==
         jobs::Remedy::kRestartReplica;
}

// A line between what two runs printed.
std::string RestartNotice(const std::string& time,
                          const SupervisedProgram& program,
                          int run,
                          const Ending& ending) {
  const jobs::ReplicaExit& exit = ending.exit;
  return time + " E [vernier] restart " + std::to_string(run) + " of " +
         std::to_string(program.restarts) + ": the program was ended by " +
         (exit.signal.has_value() ? "signal " + std::to_string(*exit.signal)
                                  : "status " + std::to_string(exit.exit_code.value_or(0))) +
         "\n";
}

}  // namespace

void Supervise() {
  const std::optional<std::string> bytes = ReadWholeFile(kProgramFile);
  const std::optional<SupervisedProgram> program =
      bytes.has_value() ? DecodeProgram(*bytes) : std::nullopt;
  if (!program.has_value()) {
    Ending ending;
    ending.exit.error = "the file '" + std::string(kProgramFile) + "' cannot be read";
    RecordEnding(kExitFile, ending);
    return;
  }
  OutputWriter log(kOutputFile, program->output_bytes);
  if (std::string problem = SetUp(*program); !problem.empty()) {
    Ending ending;
    ending.started = ending.ended = TimeStamp();
    ending.exit.host_failed = SaysDiskFull(problem);
    ending.exit.error = std::move(problem);
    RecordEnding(kExitFile, ending);
    return;
  }
  for (int run = 1;; ++run) {
    const Ending ending = RunOnce(*program, log);
    // Room for this record: the one that was reserved is for the last.
    const bool again = IsToRestart(*program, run, ending) && ReserveFile(EarlierExitFile(run));
    const bool recorded = RecordEnding(again ? EarlierExitFile(run) : kExitFile, ending);
    if (!again || !recorded) return;
    log.Write(RestartNotice(log.Stamp(), *program, run, ending));
  }
}

}  // namespace vernier::launch
