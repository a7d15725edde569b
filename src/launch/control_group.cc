// Reads and writes the files of both versions of control groups. A file that exists is used, so each value has the name
// of version 2 first and then that of version 1. A limit that cannot be set is a problem that the supervisor prints,
// not an error: the program runs without it.

#include "src/launch/control_group.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

// Period of the CPU quota in microseconds: the kernel's default (Documentation/scheduler/sched-bwc.rst).
constexpr std::int64_t kPeriodMicros = 100'000;
constexpr std::int64_t kLeastQuotaMicros = 1'000;  // The kernel's minimum (sched-bwc.rst).
// rmdir fails with EBUSY until the kernel has finished the exit of the last process, shortly after wait4 has reported
// it. A choice: 0.1 s in all.
constexpr int kRemoveRounds = 20;
constexpr int kRemovePauseMs = 5;

bool Has(const std::string& folder, const char* file) {
  return access((folder + "/" + file).c_str(), F_OK) == 0;
}

bool Set(const std::string& folder, const char* file, std::string_view value) {
  return WriteControlFile(folder + "/" + file, value);
}

// Sets the value if the folder has such a file. False: errno says why not.
bool SetIfThere(const std::string& folder, const char* file, const std::string& value) {
  return !Has(folder, file) || Set(folder, file, value);
}

bool LimitMemory(const std::string& folder, std::int64_t bytes) {
  const std::string limit = std::to_string(bytes);
  if (!SetIfThere(folder, "memory.max", limit)) return false;
  if (!SetIfThere(folder, "memory.limit_in_bytes", limit)) return false;
  // No swap: a replica that swaps is slower than one that fails. oom.group kills the replica as a whole: half a replica
  // is worthless. Kernels without these files do without.
  SetIfThere(folder, "memory.swap.max", "0");
  // After memory.limit_in_bytes: the kernel refuses a memsw limit that is below it.
  SetIfThere(folder, "memory.memsw.limit_in_bytes", limit);
  SetIfThere(folder, "memory.oom.group", "1");
  return true;
}

bool LimitCpus(const std::string& folder, std::int64_t millis) {
  const std::string quota =
      std::to_string(std::max(kLeastQuotaMicros, millis * kPeriodMicros / 1000));
  const std::string period = std::to_string(kPeriodMicros);
  return SetIfThere(folder, "cpu.max", quota + " " + period) &&
         SetIfThere(folder, "cpu.cfs_period_us", period) &&
         SetIfThere(folder, "cpu.cfs_quota_us", quota);
}

std::string Problem(const char* what, const std::string& folder) {
  return std::string(what) + " '" + folder + "': " + std::strerror(errno);
}

}  // namespace

bool WriteControlFile(const std::string& path, std::string_view value) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  // The kernel parses each write as a whole value, so a partial write is a failure and is not continued.
  const bool written = write(fd, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  const int saved = errno;
  close(fd);
  errno = saved;
  return written;
}

std::string ControlGroup::Create(const Share& share) const {
  std::string problem;
  for (const std::string& folder : folders_) {
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      problem = Problem("cannot make control group", folder);
    } else if (share.memory_bytes > 0 && !LimitMemory(folder, share.memory_bytes)) {
      problem = Problem("cannot limit memory in control group", folder);
    } else if (share.cpu_millis > 0 && !LimitCpus(folder, share.cpu_millis)) {
      problem = Problem("cannot limit CPUs in control group", folder);
    }
  }
  return problem;
}

bool ControlGroup::Enter() const {
  bool entered = true;
  for (const std::string& folder : folders_) {
    // "0" means the writing process.
    entered = Set(folder, "cgroup.procs", "0") && entered;
  }
  return entered;
}

std::optional<std::int64_t> ControlGroup::Number(const char* file, std::string_view key) const {
  for (const std::string& folder : folders_) {
    const std::string text = ReadWholeFile(folder + "/" + file).value_or("");
    const std::size_t at = text.find(key);
    if (text.empty() || at == std::string::npos) continue;
    std::int64_t number = 0;
    const char* const begin = text.data() + at + key.size();
    if (std::from_chars(begin, text.data() + text.size(), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

std::optional<std::int64_t> ControlGroup::OutOfMemoryKills() const {
  const std::optional<std::int64_t> kills = Number("memory.events", "oom_kill ");
  return kills.has_value() ? kills : Number("memory.oom_control", "oom_kill ");
}

std::optional<std::int64_t> ControlGroup::PeakMemory() const {
  const std::optional<std::int64_t> peak = Number("memory.peak", "");
  return peak.has_value() ? peak : Number("memory.max_usage_in_bytes", "");
}

std::optional<double> ControlGroup::CpuSeconds() const {
  if (const auto micros = Number("cpu.stat", "usage_usec ")) {
    return static_cast<double>(*micros) * 1e-6;
  }
  if (const auto nanos = Number("cpuacct.usage", "")) return static_cast<double>(*nanos) * 1e-9;
  return std::nullopt;
}

void ControlGroup::Kill() const {
  for (const std::string& folder : folders_) {
    // cgroup.kill exists since Linux 5.14 and also catches processes that are being forked. Otherwise the caller
    // repeats this.
    if (Set(folder, "cgroup.kill", "1")) continue;
    const std::string pids = ReadWholeFile(folder + "/cgroup.procs").value_or("");
    const char* at = pids.data();
    const char* const end = at + pids.size();
    while (at < end) {
      pid_t pid = 0;
      const auto [rest, error] = std::from_chars(at, end, pid);
      if (error == std::errc() && pid > 1) kill(pid, SIGKILL);
      at = std::find(rest, end, '\n') + 1;
    }
  }
}

bool ControlGroup::Remove() const {
  for (int round = 0; round < kRemoveRounds; ++round) {
    if (round > 0) poll(nullptr, 0, kRemovePauseMs);
    const bool gone = std::ranges::all_of(folders_, [](const std::string& folder) {
      return rmdir(folder.c_str()) == 0 || errno == ENOENT;
    });
    if (gone) return true;
  }
  return false;
}

}  // namespace vernier::launch
