#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The control group of one replica: what its processes may take of the host, and what they took. Nothing but std and POSIX,
// as src/launch/replica_files.h.
//
// A group is a folder of the cgroup file system: one of version 2, or of version 1 one for each controller. What a folder
// can do is told by the files that it has, so that the rest need not know the version:
//
//   version 2 (Documentation/admin-guide/cgroup-v2.rst)  memory.max, memory.events, memory.peak, cpu.max, cpu.stat, …
//   version 1 (Documentation/admin-guide/cgroup-v1)      memory.limit_in_bytes, memory.oom_control, cpu.cfs_quota_us, …
namespace vernier::launch {

// What a replica may take of its host.
struct Share {
  std::int64_t cpu_millis = 0;  // Thousandths of a CPU; 0: any.
  // 0: any. Without swap; page cache counts, but makes room before anything is killed.
  std::int64_t memory_bytes = 0;
  friend bool operator==(const Share&, const Share&) = default;
};

// Writes a control file in one write, as the kernel wants it. False: errno says why not.
bool WriteControlFile(const std::string& path, std::string_view value);

class ControlGroup {
 public:
  // Without folders every call does nothing and tells nothing.
  explicit ControlGroup(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // Makes the folders and sets the limits. Returns what could not be done, empty if nothing; the rest was.
  std::string Create(const Share& share) const;

  // Puts the calling process into it. False: errno says why not.
  bool Enter() const;

  // How many of its processes were killed for want of memory, theirs or the host's. Nothing: no folder tells.
  std::optional<std::int64_t> OutOfMemoryKills() const;
  // The most memory that its processes had at once, page cache included. Nothing: no folder tells.
  std::optional<std::int64_t> PeakMemory() const;
  // The time that its processes were on a CPU. Nothing: no folder tells.
  std::optional<double> CpuSeconds() const;

  // SIGKILL to every process in it.
  void Kill() const;

  // Removes the folders, of which some may be gone. False: a process is left in one.
  bool Remove() const;

 private:
  // The number after the key in the first folder that has such a file; an empty key: the number that the file begins with.
  std::optional<std::int64_t> Number(const char* file, std::string_view key) const;

  std::vector<std::string> folders_;
};

}  // namespace vernier::launch
