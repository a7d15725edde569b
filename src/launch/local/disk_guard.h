#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace vernier::launch {

// Space of a file system, free and total. Free for this user, without the blocks reserved for root.
struct DiskSpace {
  std::int64_t free_bytes = 0;
  std::int64_t total_bytes = 0;
};
// Returns the space of the folder's file system; nothing if it is not known.
using DiskProbe = std::function<std::optional<DiskSpace>(const std::string& folder)>;
std::optional<DiskSpace> ProbeDisk(const std::string& folder);

// Lower bound of the default reserve. A choice: room for the records and first output of a few programs.
inline constexpr std::int64_t kLeastReserve = std::int64_t{16} << 20;

// A folder whose disk must not become full.
struct GuardedFolder {
  std::string owner;  // "the runs", "the store"
  std::string path;
};

// Tells when disks are too full for new trials. Thread-safe if the probe is.
class DiskGuard {
 public:
  // `reserve`: bytes that must stay free. Unset: 1 % of the disk, but at least 16 MiB and at most 256 MiB.
  DiskGuard(std::vector<GuardedFolder> folders,
            std::optional<std::int64_t> reserve,
            DiskProbe probe);

  // Checks the disks now. Returns a sentence about the first with less than its reserve; empty: all have enough.
  std::string Shortage() const;

 private:
  std::int64_t ReserveOf(const DiskSpace& disk) const;

  const std::vector<GuardedFolder> folders_;
  const std::optional<std::int64_t> reserve_;
  const DiskProbe probe_;
};

}  // namespace vernier::launch
