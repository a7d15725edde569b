// Version 2 is preferred; version 1 is used where it offers a controller and version 2 does not. Each check is made
// before anything is changed (Examine), because a group shared with other processes must stay as it is: enabling a
// controller in it would fail or, worse, move processes of others.

#include "src/launch/local/control_group_host.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "fmt/format.h"
#include "src/launch/control_group.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

constexpr char kMemory[] = "memory";
constexpr char kCpu[] = "cpu";
// The leaf to which this process moves. A process started in it recognises it by this name, and uses its parent.
constexpr char kLeaf[] = "vernier-server";
// Limit for the readable part of a group's name: a file name has at most 255 bytes, and prefix and hash need 17.
constexpr std::size_t kLongestName = 200;

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool HasWord(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::vector<std::string> WordsOf(const std::string& file) {
  return Words(ReadWholeFile(file).value_or(""));
}

// The group of this process from the lines of /proc/self/cgroup, "4:memory:/a/b": that of a controller, or, for "",
// that of version 2 ("0::/a/b", cgroups(7)). Nothing: there is none.
std::optional<std::string> OwnGroup(const std::string& groups, const std::string& controller) {
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::ranges::replace(controllers, ',', ' ');
    const bool is_it =
        controller.empty() ? controllers.empty() : HasWord(Words(controllers), controller);
    if (!is_it) continue;
    const std::string path = line.substr(second + 1);
    return path == "/" ? "" : path;
  }
  return std::nullopt;
}

bool IsWritable(const std::string& path) { return access(path.c_str(), W_OK) == 0; }

// Why a group of version 2 cannot get subgroups with these controllers; empty if it can. The three paths are those that
// delegation makes writable ("Model of Delegation", cgroup-v2.rst).
std::string ObstacleIn(const std::string& parent, bool must_enable, bool& holds_us) {
  if (!IsWritable(parent) || !IsWritable(parent + "/cgroup.procs") ||
      !IsWritable(parent + "/cgroup.subtree_control")) {
    return fmt::format("this user may not divide control group '{}'", parent);
  }
  const std::string self = std::to_string(getpid());
  const std::vector<std::string> processes = WordsOf(parent + "/cgroup.procs");
  holds_us = HasWord(processes, self);
  if (!must_enable || processes.size() == (holds_us ? 1 : 0)) return "";
  return fmt::format("other processes are in control group '{}'", parent);
}

// Version 2 has one tree. Adds its parent if groups can be made there.
void AddUnified(const ControlGroupOptions& options,
                const std::string& groups,
                ControlGroupHost& host) {
  std::string root = options.root;
  // The "hybrid" layout of systemd mounts version 2 at /sys/fs/cgroup/unified beside the trees of version 1.
  if (access((root + "/cgroup.controllers").c_str(), F_OK) != 0) root += "/unified";
  const std::optional<std::string> own = OwnGroup(groups, "");
  if (options.group.empty() && !own.has_value()) return;
  std::string parent = root + (options.group.empty() ? *own : options.group);
  if (options.group.empty() && parent.ends_with(std::string("/") + kLeaf)) {
    parent.resize(parent.rfind('/'));
  }
  const std::vector<std::string> there = WordsOf(parent + "/cgroup.controllers");
  const std::vector<std::string> enabled = WordsOf(parent + "/cgroup.subtree_control");
  const bool memory = HasWord(there, kMemory);
  const bool cpus = HasWord(there, kCpu);
  if (!memory && !cpus) return;
  std::string to_enable;
  if (cpus && !HasWord(enabled, kCpu)) to_enable = "+cpu";
  if (memory && !HasWord(enabled, kMemory)) to_enable += to_enable.empty() ? "+memory" : " +memory";
  bool holds_us = false;
  host.obstacle = ObstacleIn(parent, !to_enable.empty(), holds_us);
  if (!host.obstacle.empty()) return;
  host.parents.push_back(parent);
  host.limits_memory = memory;
  host.limits_cpus = cpus;
  host.to_enable = to_enable;
  if (holds_us && !to_enable.empty()) host.leaf = parent + "/" + kLeaf;
}

// Version 1 has a tree for each controller. Adds the parent in this one; false if groups cannot be made there.
bool AddController(const ControlGroupOptions& options,
                   const std::string& groups,
                   const char* controller,
                   ControlGroupHost& host) {
  const std::optional<std::string> own = OwnGroup(groups, controller);
  if (!own.has_value()) return false;
  const std::string parent =
      options.root + "/" + controller + (options.group.empty() ? *own : options.group);
  if (access((parent + "/cgroup.procs").c_str(), F_OK) != 0) return false;
  if (!IsWritable(parent)) {
    host.obstacle = fmt::format("this user may not divide control group '{}'", parent);
    return false;
  }
  host.parents.push_back(parent);
  return true;
}

bool MoveTo(const std::string& leaf) {
  if (mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return false;
  return WriteControlFile(leaf + "/cgroup.procs", std::to_string(getpid()));
}

// FNV-1a, 32 bit, with its standard offset and prime. Distinguishes folders whose short names are equal. Not for
// security.
std::uint32_t Hash(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// The last four parts of the folder: "digits.trial-7.attempt-1.chief-0" for RUNS/digits/trial-7/attempt-1/chief-0.
std::string ShortName(const std::string& directory) {
  constexpr int kParts = 4;
  std::size_t begin = directory.size();
  for (int part = 0; part < kParts && begin != 0 && begin != std::string::npos; ++part) {
    begin = directory.rfind('/', begin - 1);
  }
  std::string name = directory.substr(begin == std::string::npos ? 0 : begin + 1, kLongestName);
  std::ranges::replace(name, '/', '.');
  std::ranges::replace(name, '\n', '.');
  return name;
}

}  // namespace

ControlGroupHost ExamineControlGroups(const ControlGroupOptions& options) {
  ControlGroupHost host;
  if (options.group == "none") {
    host.obstacle = "it is configured so";
    return host;
  }
  const std::string groups = ReadWholeFile(options.own).value_or("");
  AddUnified(options, groups, host);
  if (host.parents.empty() && host.obstacle.empty()) {
    host.limits_memory = AddController(options, groups, kMemory, host);
    host.limits_cpus = AddController(options, groups, kCpu, host);
  }
  if (host.limits_memory && host.limits_cpus) {
    host.obstacle.clear();
  } else if (host.obstacle.empty()) {
    host.obstacle = "the host gives no control groups for it";
  }
  return host;
}

ControlGroupHost PrepareControlGroups(const ControlGroupOptions& options) {
  ControlGroupHost host = ExamineControlGroups(options);
  const bool moved = host.leaf.empty() || MoveTo(host.leaf);
  if (moved &&
      (host.to_enable.empty() ||
       WriteControlFile(host.parents.front() + "/cgroup.subtree_control", host.to_enable))) {
    return host;
  }
  // Controllers may be refused after all, for example by a parent that does not delegate them: run without limits then.
  return {.obstacle = fmt::format("control group '{}' cannot be divided: {}",
                                  host.parents.front(),
                                  std::strerror(errno))};
}

std::string DescribeLimits(const ControlGroupHost& host) {
  if (host.limits_memory && host.limits_cpus) return "memory and CPUs";
  if (host.limits_memory) return "memory only: " + host.obstacle;
  if (host.limits_cpus) return "CPUs only: " + host.obstacle;
  return "accounted only: " + host.obstacle;
}

std::vector<std::string> ControlGroupsOf(const ControlGroupHost& host,
                                         const std::string& directory) {
  const std::string name = fmt::format("vernier-{}.{:08x}", ShortName(directory), Hash(directory));
  std::vector<std::string> groups;
  groups.reserve(host.parents.size());
  for (const std::string& parent : host.parents) {
    groups.push_back(fmt::format("{}/{}", parent, name));
  }
  return groups;
}

}  // namespace vernier::launch
