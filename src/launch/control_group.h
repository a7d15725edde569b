#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The control group of one replica: limits the resources of its processes, and measures their use. Only std and POSIX,
// as src/launch/replica_files.h.
//
// A group is a folder of the cgroup file system; in version 1, one folder for each controller. The files of a folder
// show what it supports, so that the code need not know the version:
//
//   version 2 (Documentation/admin-guide/cgroup-v2.rst)  memory.max, memory.events, memory.peak, cpu.max, cpu.stat, …
//   version 1 (Documentation/admin-guide/cgroup-v1)      memory.limit_in_bytes, memory.oom_control, cpu.cfs_quota_us, …
namespace vernier::launch {

// The resources of the host that a replica may use.
struct Share {
  std::int64_t cpu_millis = 0;  // Thousandths of a CPU; 0: no limit.
  // 0: no limit. Excludes swap. Page cache counts, but the kernel reclaims it before it kills anything.
  std::int64_t memory_bytes = 0;
  friend bool operator==(const Share&, const Share&) = default;
};

// Writes a control file in a single write, as the kernel requires. False: errno says why.
bool WriteControlFile(const std::string& path, std::string_view value);

class ControlGroup {
 public:
  // Without folders every call does nothing, and measures return nothing.
  explicit ControlGroup(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // Makes the folders and sets the limits. Returns the last problem, empty if there is none; the other steps are done
  // all the same.
  std::string Create(const Share& share) const;

  // Moves the calling process into the group. False: errno says why.
  bool Enter() const;

  // Number of its processes that were killed for lack of memory, by its own limit or the host's. Nothing: not measured.
  std::optional<std::int64_t> OutOfMemoryKills() const;
  // Peak memory of its processes together, in bytes, page cache included. Nothing: not measured.
  std::optional<std::int64_t> PeakMemory() const;
  // CPU time of its processes in seconds. Nothing: not measured.
  std::optional<double> CpuSeconds() const;

  // Sends SIGKILL to every process in the group.
  void Kill() const;

  // Removes the folders; missing ones are fine. False: a process is left in one.
  bool Remove() const;

 private:
  // The number after the key in the first folder with such a file; with an empty key, the number at the start of the
  // file.
  std::optional<std::int64_t> Number(const char* file, std::string_view key) const;

  std::vector<std::string> folders_;
};

}  // namespace vernier::launch
