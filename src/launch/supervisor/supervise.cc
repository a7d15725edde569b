// How a replica is supervised. Each run of the program goes through these steps:
//
//   1. remove the container of an earlier run, make the control groups, start the program (child.h), write running.json
//   2. one thread polls a signalfd and the two output pipes: it stamps and stores lines, reaps children, escalates
//      stops
//   3. when no child is left and the pipes are closed, remove the groups and write the record of the run
//
// Invariants: a run starts only after the record of the previous one is on disk, so each restart is counted exactly
// once. exit.json is written last. As a subreaper (prctl(2)) this process inherits every orphaned descendant, so "wait4
// reports ECHILD" means that nothing of the program is left.
//
// If this process is killed, the kernel kills the program (PR_SET_PDEATHSIG in child.cc) and releases the lock; without
// exit.json the launcher then treats the replica as lost and kills the rest
// (docs/adr/0005-a-supervisor-for-each-replica.md).

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

// How long to keep reading a pipe after the last descendant is gone. The pipe stays open if a process that is no
// descendant holds its write end, perhaps for ever. A choice: long enough to read what is still buffered, not felt at
// the end of a run.
constexpr std::int64_t kDrainMs = 500;
// Pause between attempts to write a record to a full disk. A choice: room appears when people act, so seconds are soon
// enough.
constexpr int kRetryMs = 1000;
// How long to retry if the folder cannot be entered (EACCES). Unlike a full disk this does not pass by itself: a
// program that removed the permissions of its own folder does not restore them. A choice: three attempts.
constexpr int kClosedMs = 3000;
// Bytes of the end of standard error that are searched for the message of a container engine (container.h). A choice:
// such messages are a few lines.
constexpr std::size_t kTailBytes = 2048;
// Pause between rounds of SIGKILL. A choice: a killed process can leave its children to us, which the next round finds.
constexpr std::int64_t kKillIntervalMs = 100;
// Time limit for unpacking a program's code. A choice: ample for large archives on slow disks; without a limit, a
// hanging file system would keep the replica in STARTING for ever.
constexpr std::int64_t kSetupMs = 600'000;

// Number of processes that the kernel killed on this host for lack of memory since boot: `oom_kill` of /proc/vmstat,
// which kernels have since 4.13.
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

// Quotes text for the records. Control and non-ASCII bytes become '?': they come from error messages in any encoding,
// and a record that is not valid UTF-8 would not be read back. Written here because the supervisor links no JSON
// library.
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

// The end of one run of the program.
struct Ending {
  jobs::ReplicaExit exit;
  bool was_told = false;  // A request to stop had arrived.
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

// Adds the usage of an ended process, which includes that of children it waited for. ru_maxrss is in KiB
// (getrusage(2)).
void AddUsage(const rusage& used, Ending& ending) {
  ending.cpu_seconds += Seconds(used.ru_utime) + Seconds(used.ru_stime);
  ending.peak_memory_bytes =
      std::max(ending.peak_memory_bytes, std::int64_t{used.ru_maxrss} * 1024);
}

// Usage of all processes of the run. Without a control group it misses the CPU time of processes that nobody waited
// for, and the memory is that of the largest single process.
void RecordUsage(const ControlGroup& group, Ending& ending) {
  ending.cpu_seconds = group.CpuSeconds().value_or(ending.cpu_seconds);
  ending.peak_memory_bytes = group.PeakMemory().value_or(ending.peak_memory_bytes);
}

// Writes the record, retrying for as long as the disk is full: it must not lose how a replica ended. The launcher has
// reserved room for it (ReserveFile), so that this rarely waits. False: the folder is gone or stays closed to this
// user, so nobody can read a record.
bool RecordEnding(const std::string& file, const Ending& ending) {
  int closed_ms = 0;
  while (!ReplaceFile(file, ToJson(ending), /*durable=*/true)) {
    if (errno == ENOENT) return false;
    if (errno == EACCES && (closed_ms += kRetryMs) > kClosedMs) return false;
    poll(nullptr, 0, kRetryMs);
  }
  return true;
}

// Tells whether a program ran out of memory, by comparing kill counters with their values before it started.
class MemoryWatch {
 public:
  explicit MemoryWatch(const ControlGroup& group)
      : group_(group),
        group_kills_(group.OutOfMemoryKills().value_or(0)),
        host_kills_(OutOfMemoryKills()) {}

  // Whether lack of memory ended the program. A control group counts the kills of this replica exactly, so any failure
  // after one counts: a program often ends with a status of its own after the kernel killed its child. Without a group,
  // a SIGKILL counts if the host killed any process meanwhile.
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

// One output pipe of the program, cut into lines.
struct Stream {
  int fd;
  LineCutter cutter;
  std::string tail = {};  // Last kTailBytes bytes.
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

  // Adds a line of the supervisor's own to the replica's output.
  void Say(const std::string& text) { log_.Write(log_.Stamp() + " E [vernier] " + text + "\n"); }

  // Returns how the main process ended, once nothing of the program is left.
  Ending Run() {
    Reap();  // Children that ended before the signalfd existed.
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
    for (const int signal : kStopSignals) sigaddset(&wanted, signal);
    sigaddset(&wanted, SIGCHLD);
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  // Both pipes at their end are not enough: a process that closed its output may still run. No child left is not enough
  // either: pipes may hold unread output, so reading goes on until they end, or for kDrainMs.
  bool Done() const {
    if (!empty_at_.has_value()) return false;
    return (out_.fd < 0 && err_.fd < 0) || MonotonicMs() >= *empty_at_ + kDrainMs;
  }

  // Timeout for poll: milliseconds until the next deadline, -1 if there is none.
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

  // Reads what is available, at most 1 MiB (a choice): a program that prints without pause must not keep us from
  // handling signals.
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
      // Pending SIGCHLDs merge into one, so Reap looks at all children.
      if (info.ssi_signo == SIGCHLD) continue;
      ending_.was_told = true;
      BeginStop();
    }
    Reap();
  }

  // wait4 also collects orphaned descendants. ECHILD is the only certain sign that none is left: /proc would miss
  // processes that are forked while it is read.
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
    // An engine's last words may still be in the pipe: its client writes them just before it exits.
    container_.Explain(err_.tail, exit);
    // After a request to stop, a kill is the supervisor's own doing and says nothing about memory.
    const bool by_itself = !kill_at_.has_value();
    exit.out_of_memory = by_itself && (exit.out_of_memory || memory_.WasFatal(exit));
    // Processes that the program left behind get the same TERM, grace and KILL.
    BeginStop();
    RemoveContainer();
  }

  void RemoveContainer() {
    if (container_.Remove().empty()) return;
    // If the engine's monitor process was killed, the container's program has become our child. The engine waits until
    // it is reaped, so reap it and ask once more.
    rusage used = {};
    while (wait4(-1, nullptr, WNOHANG, &used) > 0) AddUsage(used, ending_);
    const std::string problem = container_.Remove();
    if (!problem.empty()) Say("the container cannot be removed: " + problem);
  }

  void BeginStop() {
    if (kill_at_.has_value()) return;
    // SIGCONT after SIGTERM: a suspended process (SIGSTOP) handles a pending SIGTERM only once it is continued.
    kill(-child_.pid, SIGTERM);
    kill(-child_.pid, SIGCONT);
    kill_at_ = MonotonicMs() + grace_ms_;
  }

  // Kills everything once the grace period is over, and repeats until nothing is left: a killed process may leave
  // children that become ours. Processes that left the process group are found as children of this subreaper, others in
  // the group.
  void Escalate() {
    if (empty_at_.has_value() || !kill_at_.has_value() || MonotonicMs() < *kill_at_) return;
    // Else nobody would know what the trial waits for after its program has ended.
    if (!ending_.ended.empty() && !std::exchange(has_told_leftovers_, true)) {
      Say("processes that the program left behind did not end within " +
          std::to_string((grace_ms_ + 999) / 1000) + " s; they are killed");
    }
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
  bool has_told_leftovers_ = false;       // Said once.
  std::optional<std::int64_t> kill_at_;   // When to send SIGKILL next; set once a stop has begun.
  std::optional<std::int64_t> empty_at_;  // When the last child was reaped.
};

// Unpacks the program's code. Returns the reason if that fails, else an empty string.
std::string SetUp(const SupervisedProgram& program) {
  if (program.setup.empty()) return "";
  const BoundedRun run = RunBounded(program.setup, kSetupMs, ErrorOutput::kMerged);
  if (run.end == BoundedRun::End::kExited && run.status == 0) return "";
  if (run.end == BoundedRun::End::kOverdue) return "unpacking its code takes too long";
  if (run.end == BoundedRun::End::kNotRun) {
    return "its code cannot be unpacked: " + program.setup.front() + ": " +
           std::strerror(run.error);
  }
  const std::string_view said = run.output;
  return "its code cannot be unpacked: " + std::string(said.substr(0, said.find('\n')));
}

// Why output was lost, for people; empty if none was.
std::string LostOutput(int error) {
  if (error == 0) return "";
  if (error == ENOENT) return "its file was removed";
  const char* const what =
      IsDiskFull(error) ? "the disk of the runs was full" : "it was not written";
  return std::string(what) + " (" + std::strerror(error) + ")";
}

// Whether the output of a command reports a full disk. tar reports errors as text only, in the words of strerror.
bool SaysDiskFull(std::string_view said) {
  return said.find(std::strerror(ENOSPC)) != said.npos ||
         said.find(std::strerror(EDQUOT)) != said.npos;
}

// Runs the program once and returns when nothing of it is left.
Ending RunOnce(const SupervisedProgram& program, OutputWriter& log) {
  Ending ending;
  const Container container(program.container);
  // The container of an earlier run, should it still exist: this run takes the same name.
  container.Remove();
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

bool IsToRestart(const SupervisedProgram& program, int run, const Ending& ending) {
  if (run > program.restarts || ending.was_told || IsStopPending()) return false;
  return jobs::RemedyOf(jobs::KindOf(ending.exit), program.lenient) ==
         jobs::Remedy::kRestartReplica;
}

// The line in the output between two runs (docs/formats/attempt_directory.md).
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

Ending NeverRan() {
  Ending ending;
  ending.started = ending.ended = TimeStamp();
  return ending;
}

}  // namespace

bool IsStopPending() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return std::ranges::any_of(kStopSignals,
                             [&](int signal) { return sigismember(&pending, signal) == 1; });
}

void RecordFailure(std::string error, bool host_failed) {
  Ending ending = NeverRan();
  ending.exit.error = std::move(error);
  ending.exit.host_failed = host_failed;
  RecordEnding(kExitFile, ending);
}

void RecordStopped() {
  Ending ending = NeverRan();
  ending.exit.signal = SIGTERM;
  RecordEnding(kExitFile, ending);
}

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
    const bool is_full = SaysDiskFull(problem);
    return RecordFailure(std::move(problem), is_full);
  }
  for (int run = 1;; ++run) {
    const Ending ending = RunOnce(*program, log);
    // This record needs room of its own: exit.json.new, which the launcher reserved, is for the last record. Without
    // room the program is not restarted. This end becomes the last one, and the launcher decides about another attempt.
    const bool again = IsToRestart(*program, run, ending) && ReserveFile(EarlierExitFile(run));
    const bool recorded = RecordEnding(again ? EarlierExitFile(run) : kExitFile, ending);
    if (!again || !recorded) return;
    log.Write(RestartNotice(log.Stamp(), *program, run, ending));
  }
}

}  // namespace vernier::launch
