#include "src/launch/local/replica_records.h"

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
#include "src/launch/local/gang_records.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

using nlohmann::json;
using Phase = Observation::Phase;

constexpr char kErrorFile[] = "supervisor.err";
constexpr int kKillRounds = 3;
// Its exit status where the disk is full: src/launch/supervisor/main.cc.
constexpr int kNoRoom = 5;

std::string PathOf(const std::string& directory, const char* file) {
  return directory + "/" + file;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Whether a process holds the lock. Only looks: taking it, for however short, would turn a supervisor away that is just
// about to.
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

// At most what fits into a time of a hundred years; nothing where the record has no such number.
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

// The object in a file; nothing if there is no such file. One that is no object counts as an empty one: whoever wrote it
// was there.
std::optional<json> ReadObject(const std::string& path) {
  const std::optional<std::string> text = ReadWholeFile(path);
  if (!text.has_value()) return std::nullopt;
  json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return document.is_object() ? std::move(document) : json::object();
}

// How a run ended.  Nothing: there is no such record.
std::optional<Observation::Run> ReadRun(const std::string& path) {
  const std::optional<json> record = ReadObject(path);
  if (!record.has_value()) return std::nullopt;
  Observation::Run end{
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

std::vector<Observation::Run> ReadEarlier(const std::string& directory) {
  std::vector<Observation::Run> runs;
  while (std::optional<Observation::Run> run =
             ReadRun(directory + "/" + EarlierExitFile(static_cast<int>(runs.size()) + 1))) {
    runs.push_back(*std::move(run));
  }
  return runs;
}

std::optional<Observation> ReadEnd(const std::string& directory) {
  const std::optional<Observation::Run> last = ReadRun(PathOf(directory, kExitFile));
  if (!last.has_value()) return std::nullopt;
  return Observation{.phase = Phase::kEnded,
                     .exit = last->exit,
                     .started = last->started,
                     .ended = last->ended,
                     .cpu_time = last->cpu_time,
                     .peak_memory_bytes = last->peak_memory_bytes,
                     .earlier = ReadEarlier(directory)};
}

// A process that cannot be mistaken for a later one with the same id.
struct Identity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
};

// The supervisor that took the replica on, whether or not it still lives.
std::optional<Identity> ReadIdentity(const std::string& directory) {
  const std::string text = ReadWholeFile(PathOf(directory, kLockFile)).value_or("");
  Identity identity;
  const char* const end = text.data() + text.size();
  const auto pid = std::from_chars(text.data(), end, identity.pid);
  if (pid.ec != std::errc() || pid.ptr == end) return std::nullopt;
  const auto start = std::from_chars(pid.ptr + 1, end, identity.start_time);
  if (start.ec != std::errc() || start.ptr == end) return std::nullopt;  // Half-written.
  return identity;
}

// Sends the signal only to that very process: the descriptor pins it while we make sure.
bool SignalProcess(const Identity& process, int signal) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (fd < 0) return false;
  const bool sent = ProcessStartTime(process.pid) == process.start_time &&
                    syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0) == 0;
  close(fd);
  return sent;
}

// Whether the process was started for the replica in the folder, by us or by what we started.
bool BelongsTo(pid_t pid, const std::string& directory) {
  const std::optional<std::string> environment =
      ReadWholeFile("/proc/" + std::to_string(pid) + "/environ");
  if (!environment.has_value()) return false;
  const std::string mark = kReplicaVariable + ("=" + directory) + '\0';
  return environment->starts_with(mark) || environment->find('\0' + mark) != std::string::npos;
}

// Whether the process is a supervisor of the replica in the folder: "vernier-supervisor DIRECTORY".
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

// How many processes of this host `belongs` names; each is sent the signal, unless that is 0. The descriptor pins each
// process while we look whose it is.
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

// As the launcher that started the replica wrote it down; nothing but defaults if it did not come to that.
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

// As the system takes them: with a null at the end. They belong to the texts.
std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs the supervisor program until it has gone to the background, or has nothing to do there. What it says goes to a file
// of the folder.
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
    return absl::OkStatus();  // The process around us reaps for itself; Observe tells the rest.
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

Observation Observe(const std::string& directory) {
  // First: where it is gone again, records were removed, and an end that is left does not tell what else there was.
  if (!Exists(PathOf(directory, kStartedFile))) return {.phase = Phase::kNotStarted};
  if (std::optional<Observation> end = ReadEnd(directory)) return *std::move(end);
  if (!IsLocked(directory)) {
    // It may have written its record between our two looks.
    return ReadEnd(directory).value_or(
        Observation{.phase = Phase::kGone, .earlier = ReadEarlier(directory)});
  }
  const std::optional<json> running = ReadObject(PathOf(directory, kRunningFile));
  if (!running.has_value()) return {.phase = Phase::kStarting};
  return {.phase = Phase::kRunning,
          .started = TimeAt(*running, "started"),
          .earlier = ReadEarlier(directory)};
}

bool Fence(const std::string& directory) {
  // Where there is no folder, nobody can start anything.
  return CreateMarker(PathOf(directory, kStartedFile)) || errno == ENOENT;
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
  // Again, for what was being forked meanwhile; but not for ever, for a process that cannot die.
  for (int round = 0; round < kKillRounds && KillProcessesOf(directory) > 0; ++round) {
  }
  const ControlGroup group = ControlGroupOf(directory, groups);
  group.Kill();  // Also what has changed its environment.
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
