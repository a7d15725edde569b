// Reads a replica's state from its folder, and signals its processes. Nothing here assumes that this process started
// the replica: all facts come from files, from the lock, and from /proc.
//
// Process ids are reused, so a process is only signalled through a pidfd (pidfd_open(2)) that was opened before its
// identity was checked: by start time, command line or environment. kill(2) after such a check could hit another
// process.

#include "src/launch/gang/replica_records.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "src/base/log.h"
#include "src/core/status.h"
#include "src/launch/control_group.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

using nlohmann::json;
using Phase = ReplicaObservation::Phase;

// Standard error of the supervisor, until it has gone to the background.
constexpr char kErrorFile[] = "supervisor.err";
// A choice: each round finds processes that were forked during the one before. The control group catches the rest.
constexpr int kKillRounds = 3;
// Exit status of the supervisor for a full disk: src/launch/supervisor/main.cc.
constexpr int kNoRoom = 5;

std::string PathOf(const std::string& directory, const char* file) {
  return directory + "/" + file;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Whether a process holds the lock. F_OFD_GETLK does not take it: holding it even briefly would turn away a supervisor
// that is about to start.
bool IsLocked(const std::string& directory) {
  const int fd =
      open(PathOf(directory, kLockFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const bool locked = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  close(fd);
  return locked;
}

absl::Time TimeAt(const json& document, const char* key) {
  absl::Time time = absl::UnixEpoch();
  const auto text = document.find(key);
  if (text != document.end() && text->is_string()) {
    absl::ParseTime(absl::RFC3339_full, text->get<std::string>(), &time, nullptr);
  }
  return time;
}

std::optional<std::int32_t> NumberAt(const json& document, const char* key) {
  const auto number = document.find(key);
  if (number == document.end() || !number->is_number_integer()) return std::nullopt;
  return number->get<std::int32_t>();
}

// Seconds, limited to about a hundred years so that sums stay finite; 0 if the record has no such number.
absl::Duration SecondsAt(const json& document, const char* key) {
  constexpr double kMost = 3e9;
  const auto number = document.find(key);
  if (number == document.end() || !number->is_number()) return absl::ZeroDuration();
  return absl::Seconds(std::clamp(number->get<double>(), 0.0, kMost));
}

std::int64_t BytesAt(const json& document, const char* key) {
  const auto number = document.find(key);
  if (number == document.end() || !number->is_number_integer()) return 0;
  return std::max<std::int64_t>(0, number->get<std::int64_t>());
}

// Returns the object in a file, nothing if there is no such file. A file that holds no object counts as an empty
// object: it proves that its writer got that far.
std::optional<json> ReadObject(const std::string& path) {
  const std::optional<std::string> text = ReadWholeFile(path);
  if (!text.has_value()) return std::nullopt;
  json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return document.is_object() ? std::move(document) : json::object();
}

// Reads how a run ended. Nothing: there is no such record.
std::optional<ReplicaObservation::Run> ReadRun(const std::string& path) {
  const std::optional<json> record = ReadObject(path);
  if (!record.has_value()) return std::nullopt;
  ReplicaObservation::Run end{
      .exit = {.exit_code = NumberAt(*record, "exit_code"), .signal = NumberAt(*record, "signal")},
      .started = TimeAt(*record, "started"),
      .ended = TimeAt(*record, "ended"),
      .cpu_time = SecondsAt(*record, "cpu_seconds"),
      .peak_memory_bytes = BytesAt(*record, "peak_memory_bytes")};
  const auto memory = record->find("out_of_memory");
  end.exit.out_of_memory = memory != record->end() && *memory == json(true);
  const auto host = record->find("host_failed");
  end.exit.host_failed = host != record->end() && *host == json(true);
  const auto error = record->find("error");
  if (error != record->end() && error->is_string()) end.exit.error = error->get<std::string>();
  const auto lost = record->find("lost_output");
  if (lost != record->end() && lost->is_string()) end.exit.lost_output = lost->get<std::string>();
  if (!end.exit.exit_code.has_value() && !end.exit.signal.has_value() && end.exit.error.empty()) {
    end.exit.error = "the record of its end is damaged";
  }
  return end;
}

std::vector<ReplicaObservation::Run> ReadEarlier(const std::string& directory) {
  std::vector<ReplicaObservation::Run> runs;
  while (std::optional<ReplicaObservation::Run> run =
             ReadRun(directory + "/" + EarlierExitFile(static_cast<int>(runs.size()) + 1))) {
    runs.push_back(*std::move(run));
  }
  return runs;
}

std::optional<ReplicaObservation> ReadEnd(const std::string& directory) {
  const std::optional<ReplicaObservation::Run> last = ReadRun(PathOf(directory, kExitFile));
  if (!last.has_value()) return std::nullopt;
  return ReplicaObservation{.phase = Phase::kEnded,
                            .exit = last->exit,
                            .started = last->started,
                            .ended = last->ended,
                            .cpu_time = last->cpu_time,
                            .peak_memory_bytes = last->peak_memory_bytes,
                            .earlier = ReadEarlier(directory)};
}

// Identifies a process even if its id is reused later.
struct Identity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
};

// The supervisor that took charge of the replica, alive or not.
std::optional<Identity> ReadIdentity(const std::string& directory) {
  const std::string text = ReadWholeFile(PathOf(directory, kLockFile)).value_or("");
  Identity identity;
  const char* const end = text.data() + text.size();
  const auto pid = std::from_chars(text.data(), end, identity.pid);
  if (pid.ec != std::errc() || pid.ptr == end) return std::nullopt;
  const auto start = std::from_chars(pid.ptr + 1, end, identity.start_time);
  // Still being written: the line ends with a newline.
  if (start.ec != std::errc() || start.ptr == end) return std::nullopt;
  return identity;
}

// Sends the signal to exactly that process: the descriptor keeps its id from being reused during the check.
bool SignalProcess(const Identity& process, int signal) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (fd < 0) return false;
  const bool sent = ProcessStartTime(process.pid) == process.start_time &&
                    syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0) == 0;
  close(fd);
  return sent;
}

// Whether the process was started for the replica in the folder, as its environment at exec shows. A program that
// clears the environment of its children escapes this test; the control group still finds those.
bool BelongsTo(pid_t pid, const std::string& directory) {
  const std::optional<std::string> environment =
      ReadWholeFile("/proc/" + std::to_string(pid) + "/environ");
  if (!environment.has_value()) return false;
  const std::string mark = kReplicaVariable + ("=" + directory) + '\0';
  return environment->starts_with(mark) || environment->find('\0' + mark) != std::string::npos;
}

// Whether the process is a supervisor of the replica in the folder: "vernier-supervisor DIRECTORY". Programs are
// compared by file name, since a replica may have been started by another installation of Vernier.
bool IsSupervisorOf(pid_t pid, const std::string& supervisor, const std::string& directory) {
  const std::optional<std::string> line =
      ReadWholeFile("/proc/" + std::to_string(pid) + "/cmdline");
  const std::string arguments = '\0' + directory + '\0';
  if (!line.has_value() || !line->ends_with(arguments)) return false;
  const std::string_view program =
      std::string_view(*line).substr(0, line->size() - arguments.size());
  const auto file = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  return program.find('\0') == std::string_view::npos && file(program) == file(supervisor);
}

// Counts the processes of this host for which `belongs` is true, and sends each the signal, unless that is 0. The
// descriptor is opened before the test, so that the id cannot be reused in between.
template <typename Belongs>
int SignalEach(int signal, const Belongs& belongs) {
  int found = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0) continue;
    if (belongs(pid)) {
      if (signal != 0) syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0);
      ++found;
    }
    close(fd);
  }
  return found;
}

int SignalSupervisors(int signal, const std::string& supervisor, const std::string& directory) {
  return SignalEach(signal, [&](pid_t pid) { return IsSupervisorOf(pid, supervisor, directory); });
}

int KillProcessesOf(const std::string& directory) {
  return SignalEach(SIGKILL, [&](pid_t pid) { return BelongsTo(pid, directory); });
}

// The program file as the launcher that started the replica wrote it; defaults if it was never written. Its control
// groups count, not those that this process would choose: it may have been configured otherwise since.
SupervisedProgram ProgramOf(const std::string& directory) {
  const std::string bytes = ReadWholeFile(PathOf(directory, kProgramFile)).value_or("");
  return DecodeProgram(bytes).value_or(SupervisedProgram());
}

ControlGroup ControlGroupOf(const std::string& directory, const std::vector<std::string>& groups) {
  const std::vector<std::string> recorded = ProgramOf(directory).control_groups;
  return ControlGroup(recorded.empty() ? groups : recorded);
}

class SpawnSettings {
 public:
  explicit SpawnSettings(const std::string& error_file) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(
        &actions_, STDERR_FILENO, error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Pointers into the texts, with a null pointer at the end, as exec expects.
std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs the supervisor program until it has gone to the background or has exited. Its messages go to a file in the
// folder, which is removed on success.
absl::Status RunSupervisor(std::string supervisor,
                           std::vector<std::string> arguments,
                           const std::string& directory,
                           Environment environment) {
  const std::string error_file = PathOf(directory, kErrorFile);
  const SpawnSettings settings(error_file);
  arguments.insert(arguments.begin(), std::move(supervisor));
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> variables = Pointers(environment);
  pid_t pid = 0;
  const int error = posix_spawn(
      &pid, argv[0], settings.actions(), settings.attributes(), argv.data(), variables.data());
  if (error != 0) return NotWritten("cannot run supervisor", argv[0], error);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno == EINTR) continue;
    // This process ignores SIGCHLD, so the kernel has reaped the child and its status is unknown; Observe tells what
    // happened.
    return absl::OkStatus();
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    unlink(error_file.c_str());
    return absl::OkStatus();
  }
  std::string said = ReadWholeFile(error_file).value_or("");
  if (said.ends_with('\n')) said.pop_back();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoRoom) {
    return ResourceExhausted("supervisor '{}' gave up: {}", argv[0], std::strerror(ENOSPC));
  }
  return Unavailable("supervisor '{}' gave up: {}", argv[0], said.empty() ? "no reason" : said);
}

}  // namespace

ReplicaObservation Observe(const std::string& directory) {
  // The marker is checked first. If it is gone, records were removed, and an exit.json that is left does not prove that
  // the run it describes was the last.
  if (!Exists(PathOf(directory, kStartedFile))) return {.phase = Phase::kNotStarted};
  if (std::optional<ReplicaObservation> end = ReadEnd(directory)) return *std::move(end);
  if (!IsLocked(directory)) {
    // The supervisor may have written its record between the two checks: look once more before calling the replica
    // lost.
    return ReadEnd(directory).value_or(
        ReplicaObservation{.phase = Phase::kGone, .earlier = ReadEarlier(directory)});
  }
  const std::optional<json> running = ReadObject(PathOf(directory, kRunningFile));
  if (!running.has_value()) return {.phase = Phase::kStarting};
  return {.phase = Phase::kRunning,
          .started = TimeAt(*running, "started"),
          .earlier = ReadEarlier(directory)};
}

bool Fence(const std::string& directory) {
  // Without the folder no supervisor can start anything.
  return CreateMarker(PathOf(directory, kStartedFile)) || errno == ENOENT;
}

std::optional<absl::Time> StartedAt(const std::string& directory) {
  const std::optional<json> running = ReadObject(PathOf(directory, kRunningFile));
  if (!running.has_value()) return std::nullopt;
  return TimeAt(*running, "started");
}

absl::Status SpawnSupervisor(const std::string& supervisor,
                             const std::string& directory,
                             const Environment& environment) {
  return RunSupervisor(supervisor, {directory}, directory, environment);
}

bool HasNoRecords(const std::string& directory) {
  return !Exists(PathOf(directory, kStartedFile)) && IsOutOfReach(errno);
}

bool HasProcesses(const std::string& supervisor, const std::string& directory) {
  return SignalEach(0, [&](pid_t pid) {
           return IsSupervisorOf(pid, supervisor, directory) || BelongsTo(pid, directory);
         }) > 0;
}

bool TerminateReplica(const std::string& supervisor, const std::string& directory) {
  const std::optional<Identity> running = ReadIdentity(directory);
  if (running.has_value() && SignalProcess(*running, SIGTERM)) {
    SignalProcess(*running, SIGCONT);
    return true;
  }
  if (SignalSupervisors(SIGTERM, supervisor, directory) == 0) return false;
  SignalSupervisors(SIGCONT, supervisor, directory);
  return true;
}

void KillReplica(const std::string& supervisor,
                 const std::string& directory,
                 const std::vector<std::string>& groups) {
  const std::optional<Identity> running = ReadIdentity(directory);
  if (running.has_value() && IsLocked(directory)) SignalProcess(*running, SIGKILL);
  SignalSupervisors(SIGKILL, supervisor, directory);
  // Repeated for processes that were being forked, a few times only: a process in uninterruptible sleep does not die.
  for (int round = 0; round < kKillRounds && KillProcessesOf(directory) > 0; ++round) {
  }
  const ControlGroup group = ControlGroupOf(directory, groups);
  group.Kill();  // Also processes that changed their environment.
  group.Remove();
  if (ProgramOf(directory).container.remove.empty()) return;
  const absl::Status begun =
      RunSupervisor(supervisor, {"--remove", directory}, directory, OwnEnvironment({"*"}));
  if (begun.ok()) return;
  base::Log(base::LogLevel::kError,
            "a container may be left",
            {{"replica", directory}, {"error", std::string(begun.message())}});
}

void RemoveControlGroup(const std::string& directory, const std::vector<std::string>& groups) {
  ControlGroupOf(directory, groups).Remove();
}

}  // namespace vernier::launch
