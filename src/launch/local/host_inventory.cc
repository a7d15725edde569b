#include "src/launch/local/host_inventory.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

// The number at the start of the text; nothing for "max" and the like.
std::optional<std::int64_t> LeadingNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// The folders of this process's control group (version 2) and of its ancestors, whose limits apply too. Empty without
// such a group. A container with a cgroup namespace sees "0::/", and its limit in the root folder.
std::vector<std::string> ControlGroups() {
  constexpr std::string_view kRoot = "/sys/fs/cgroup";
  const std::string groups = ReadWholeFile("/proc/self/cgroup").value_or("");
  const std::size_t at = groups.find("0::/");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + 3;
  std::string group = groups.substr(begin, groups.find('\n', begin) - begin);
  std::vector<std::string> folders;
  while (!group.empty()) {
    folders.push_back(fmt::format("{}{}", kRoot, group));
    group.resize(group.rfind('/'));
  }
  folders.emplace_back(kRoot);
  return folders;
}

// The limit in CPUs; nothing for "max 100000", no limit (cgroup-v2.rst, "CPU Interface Files").
std::optional<double> CpuLimit(const std::string& group) {
  const std::string limit = ReadWholeFile(group + "/cpu.max").value_or("");  // "200000 100000"
  const std::optional<std::int64_t> quota = LeadingNumber(limit);
  const std::size_t space = limit.find(' ');
  if (!quota.has_value() || space == std::string::npos) return std::nullopt;
  const std::int64_t period = LeadingNumber(std::string_view(limit).substr(space + 1)).value_or(0);
  if (period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(period);
}

double HostCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  double cpus = 1;
  // Affinity and quota are independent limits: taskset and cpusets set the one, containers usually the other.
  if (sched_getaffinity(0, sizeof set, &set) == 0) cpus = CPU_COUNT(&set);
  for (const std::string& group : ControlGroups()) {
    cpus = std::min(cpus, CpuLimit(group).value_or(cpus));
  }
  return cpus;
}

std::int64_t HostMemory() {
  std::int64_t memory = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  for (const std::string& group : ControlGroups()) {
    const std::string limit = ReadWholeFile(group + "/memory.max").value_or("");
    memory = std::min(memory, LeadingNumber(limit).value_or(memory));
  }
  return memory;
}

}  // namespace

HostCapacity DetectHost() { return {.cpus = HostCpus(), .memory_bytes = HostMemory(), .gpus = {}}; }

}  // namespace vernier::launch
