#include "src/launch/local/host_inventory.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "fmt/format.h"
#include "src/core/status.h"
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

// The folders of this process's control group (version 2) and of all around it, whose limits hold too; none if there is no
// such group.
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

// In CPUs; nothing for "max 100000".
std::optional<double> CpuLimit(const std::string& group) {
  const std::string limit = ReadWholeFile(group + "/cpu.max").value_or("");  // "200000 100000"
  const std::optional<std::int64_t> quota = LeadingNumber(limit);
  const std::size_t space = limit.find(' ');
  if (!quota.has_value() || space == std::string::npos) return std::nullopt;
  const std::int64_t period = LeadingNumber(std::string_view(limit).substr(space + 1)).value_or(0);
  if (period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(period);
}

double Cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  double cpus = 1;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cpus = CPU_COUNT(&set);
  for (const std::string& group : ControlGroups()) {
    cpus = std::min(cpus, CpuLimit(group).value_or(cpus));
  }
  return cpus;
}

std::int64_t Memory() {
  std::int64_t memory = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  for (const std::string& group : ControlGroups()) {
    const std::string limit = ReadWholeFile(group + "/memory.max").value_or("");
    memory = std::min(memory, LeadingNumber(limit).value_or(memory));
  }
  return memory;
}

}  // namespace

HostCapacity DetectHost() { return {.cpus = Cpus(), .memory_bytes = Memory(), .gpus = {}}; }

bool IsProgram(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::optional<std::string> FindProgram(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::error_code error;
    const std::filesystem::path candidate =
        std::filesystem::absolute(fmt::format("{}/{}", folder, name), error);
    const bool is_file = !error && std::filesystem::is_regular_file(candidate, error);
    if (!folder.empty() && is_file && IsProgram(candidate.string())) return candidate.string();
  }
  return std::nullopt;
}

absl::StatusOr<std::string> FindSupervisor() {
  constexpr std::string_view kName = "vernier-supervisor";
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string beside = (self.parent_path() / kName).string();
  if (!error && IsProgram(beside)) return beside;
  if (std::optional<std::string> on_path = FindProgram(kName)) return *std::move(on_path);
  return NotFound("{} is neither beside this program nor on PATH", kName);
}

}  // namespace vernier::launch
