// Read is called with each look at a gang, so it does everything by polling: it starts the process, takes the lines
// that are there, and gives the process up when it is silent or has ended. Nothing waits for the driver. If the daemon
// is killed, the process notices the closed pipe; at most kRecordEvery samples of a replica are lost.

#include "src/launch/local/gpu_watch.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

constexpr char kRecord[] = "gpu.json";
// Samples between writes of a record, which the next process reads. A choice: loses at most ten seconds.
constexpr std::int64_t kRecordEvery = 10;
// A process that is silent for this long hangs in the driver. A choice, twice the time that a driver has to wake its
// devices (kGpuPatience).
constexpr absl::Duration kSilence = absl::Seconds(30);
// Pause before a driver that did not answer, or is missing, is tried again. A choice: it may be installed or reset
// meanwhile.
constexpr absl::Duration kPause = absl::Minutes(1);

std::string RecordOf(const std::string& folder) { return folder + "/" + kRecord; }

std::optional<GpuUse> ReadRecord(const std::string& folder) {
  const std::optional<std::string> text = ReadWholeFile(RecordOf(folder));
  if (!text.has_value()) return std::nullopt;
  const auto record = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) return std::nullopt;
  try {
    return GpuUse{.samples = record.at("samples"),
                  .utilization = record.at("utilization"),
                  .peak_utilization = record.at("peak_utilization"),
                  .memory_bytes = record.at("memory_bytes"),
                  .peak_memory_bytes = record.at("peak_memory_bytes"),
                  .device_memory_bytes = record.at("device_memory_bytes")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // Damaged: counts as no record.
  }
}

void WriteRecord(const std::string& folder, const GpuUse& use) {
  const nlohmann::json record = {{"samples", use.samples},
                                 {"utilization", use.utilization},
                                 {"peak_utilization", use.peak_utilization},
                                 {"memory_bytes", use.memory_bytes},
                                 {"peak_memory_bytes", use.peak_memory_bytes},
                                 {"device_memory_bytes", use.device_memory_bytes}};
  // Errors are ignored: the statistics are for information only.
  ReplaceFile(RecordOf(folder), record.dump() + "\n", /*durable=*/false);
}

// Parses a line of WatchGpus (src/launch/supervisor/nvml.h); a utilization that is not known is "-".
std::optional<GpuSample::Device> ParseDevice(const std::string& line) {
  const std::vector<std::string> parts = absl::StrSplit(line, ", ");
  GpuSample::Device device;
  if (parts.size() != 5 || !absl::SimpleAtoi(parts[3], &device.used_bytes) ||
      !absl::SimpleAtoi(parts[4], &device.memory_bytes)) {
    return std::nullopt;
  }
  device.index = parts[0];
  device.uuid = parts[1];
  double percent = 0;
  if (absl::SimpleAtod(parts[2], &percent)) device.utilization = percent / 100;
  return device;
}

}  // namespace

void AddSample(const GpuSample& sample, const std::vector<std::string>& gpus, GpuUse& use) {
  std::int64_t devices = 0;
  std::int64_t known = 0;
  double utilization = 0;
  std::int64_t used = 0;
  for (const GpuSample::Device& device : sample.devices) {
    const bool is_its = std::ranges::any_of(
        gpus, [&](const std::string& gpu) { return gpu == device.index || gpu == device.uuid; });
    if (!is_its) continue;
    ++devices;
    // The fullest device and the smallest one: there a replica runs out of memory first.
    used = std::max(used, device.used_bytes);
    const bool is_smaller =
        use.device_memory_bytes == 0 || device.memory_bytes < use.device_memory_bytes;
    if (is_smaller) use.device_memory_bytes = device.memory_bytes;
    if (!device.utilization.has_value()) continue;
    ++known;
    utilization += *device.utilization;
    use.peak_utilization = std::max(use.peak_utilization, *device.utilization);
  }
  if (devices == 0) return;
  if (known > 0) utilization /= static_cast<double>(known);
  ++use.samples;
  const auto samples = static_cast<double>(use.samples);
  // Running means need no sums, so that a record can be continued by the next process.
  use.utilization += (utilization - use.utilization) / samples;
  use.memory_bytes +=
      static_cast<std::int64_t>(static_cast<double>(used - use.memory_bytes) / samples);
  use.peak_memory_bytes = std::max(use.peak_memory_bytes, used);
}

GpuWatch::GpuWatch(std::string supervisor, absl::Duration interval)
    : supervisor_(std::move(supervisor)), interval_(interval) {}

GpuWatch::~GpuWatch() {
  for (const auto& [folder, watched] : watched_) {
    if (watched.use.samples > watched.recorded) WriteRecord(folder, watched.use);
  }
  Stop(absl::InfiniteFuture());
}

void GpuWatch::Watch(const std::string& folder, const std::vector<std::string>& gpus) {
  if (gpus.empty() || watched_.contains(folder)) return;
  Watched& watched = watched_[folder];
  watched.gpus = gpus;
  watched.use = ReadRecord(folder).value_or(GpuUse{});
  watched.recorded = watched.use.samples;
}

void GpuWatch::Read(absl::Time now) {
  Reap();
  if (watched_.empty()) {
    if (output_ >= 0) Stop(now);
    return;
  }
  if (output_ < 0) {
    if (now >= next_start_) Start(now);
    return;
  }
  char buffer[16384];
  ssize_t got = 0;
  // The pipe is non-blocking for this end only: without a reader its writer blocks, and old samples do not pile up.
  while ((got = read(output_, buffer, sizeof buffer)) > 0) {
    heard_ = now;
    unread_.append(buffer, static_cast<std::size_t>(got));
    TakeLines();
  }
  const bool has_ended = got == 0 || (errno != EAGAIN && errno != EINTR);
  if (has_ended || now - heard_ > kSilence) Stop(now + kPause);
}

void GpuWatch::Forget(const std::string& folder) {
  const auto watched = watched_.find(folder);
  if (watched == watched_.end()) return;
  if (watched->second.use.samples > watched->second.recorded) {
    WriteRecord(folder, watched->second.use);
  }
  watched_.erase(watched);
}

std::optional<GpuUse> GpuWatch::UseOf(const std::string& folder) const {
  const auto watched = watched_.find(folder);
  if (watched == watched_.end()) return ReadRecord(folder);
  if (watched->second.use.samples == 0) return std::nullopt;
  return watched->second.use;
}

void GpuWatch::Start(absl::Time now) {
  next_start_ = now + kPause;  // In case of failure.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // A process group of its own, so that Ctrl-C in a terminal does not end it with this program.
  sigset_t signals;
  posix_spawnattr_init(&attributes);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string interval = std::to_string(absl::ToInt64Milliseconds(interval_));
  std::string flag = "--watch-gpus";
  std::string program = supervisor_;
  char* const argv[] = {program.data(), flag.data(), interval.data(), nullptr};
  const int error =
      posix_spawnp(&process_, supervisor_.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return;
  }
  output_ = ends[0];
  heard_ = now;
}

void GpuWatch::Stop(absl::Time next) {
  next_start_ = next;
  unread_.clear();
  sample_.devices.clear();
  if (output_ < 0) return;
  close(std::exchange(output_, -1));
  kill(process_, SIGKILL);
  ended_.push_back(std::exchange(process_, 0));
  Reap();
}

void GpuWatch::TakeLines() {
  for (std::size_t end = 0; (end = unread_.find('\n')) != std::string::npos;) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    if (!line.empty()) {
      if (auto device = ParseDevice(line)) sample_.devices.push_back(*std::move(device));
      continue;
    }
    for (auto& [folder, watched] : watched_) {
      AddSample(sample_, watched.gpus, watched.use);
      if (watched.use.samples - watched.recorded < kRecordEvery) continue;
      WriteRecord(folder, watched.use);
      watched.recorded = watched.use.samples;
    }
    sample_.devices.clear();
  }
}

// Reaps killed processes without waiting: one that hangs in the driver may never end.
void GpuWatch::Reap() {
  std::erase_if(ended_, [](pid_t process) { return waitpid(process, nullptr, WNOHANG) != 0; });
}

}  // namespace vernier::launch
