#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace vernier::launch {

// What the file system of a folder has for this user.
struct DiskSpace {
  std::int64_t free_bytes = 0;
  std::int64_t total_bytes = 0;
};
// Nothing: not known.
using DiskProbe = std::function<std::optional<DiskSpace>(const std::string& folder)>;
std::optional<DiskSpace> ProbeDisk(const std::string& folder);

// The least that a reserve may be: what a program that starts needs for its records and first output.
inline constexpr std::int64_t kLeastReserve = std::int64_t{16} << 20;

// A folder whose disk must not fill up.
struct GuardedFolder {
  std::string owner;  // "the runs", "the store"
  std::string path;
};

// Says when disks are so full that nothing more is to be started. Thread-safe if the probe is.
class DiskGuard {
 public:
  // `reserve`: bytes that are to stay free. Unset: 1 % of the disk, at least 16 MiB and at most 256 MiB.
  DiskGuard(std::vector<GuardedFolder> folders,
            std::optional<std::int64_t> reserve,
            DiskProbe probe);

  // As of now: one sentence about the first disk that has less than its reserve; empty: all have more.
  std::string Shortage() const;

 private:
  std::int64_t ReserveOf(const DiskSpace& disk) const;

  const std::vector<GuardedFolder> folders_;
  const std::optional<std::int64_t> reserve_;
  const DiskProbe probe_;
};

}  // namespace vernier::launch
