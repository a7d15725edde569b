#include "src/launch/local/disk_guard.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace vernier::launch {
namespace {

// Upper bound of the default reserve. A choice: 1 % of a disk of many terabytes would hold trials back without need.
constexpr std::int64_t kMostReserve = std::int64_t{256} << 20;

std::int64_t Mebibytes(std::int64_t bytes) { return bytes >> 20; }

}  // namespace

std::optional<DiskSpace> ProbeDisk(const std::string& folder) {
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
  const auto block = static_cast<std::int64_t>(disk.f_frsize);
  return DiskSpace{.free_bytes = static_cast<std::int64_t>(disk.f_bavail) * block,
                   .total_bytes = static_cast<std::int64_t>(disk.f_blocks) * block};
}

DiskGuard::DiskGuard(std::vector<GuardedFolder> folders,
                     std::optional<std::int64_t> reserve,
                     DiskProbe probe)
    : folders_(std::move(folders)),
      reserve_(reserve),
      probe_(probe != nullptr ? std::move(probe) : DiskProbe(ProbeDisk)) {}

std::int64_t DiskGuard::ReserveOf(const DiskSpace& disk) const {
  return reserve_.value_or(std::clamp(disk.total_bytes / 100, kLeastReserve, kMostReserve));
}

std::string DiskGuard::Shortage() const {
  for (const GuardedFolder& folder : folders_) {
    const std::optional<DiskSpace> disk = probe_(folder.path);
    if (!disk.has_value()) continue;  // Writing will show whether there is room.
    const std::int64_t reserve = ReserveOf(*disk);
    if (disk->free_bytes >= reserve) continue;
    return fmt::format(
        "the disk of {} has {} MiB free in '{}', new trials wait until it has {} MiB",
        folder.owner,
        Mebibytes(disk->free_bytes),
        folder.path,
        // Rounded up, while the free space is rounded down: the two numbers must not look equal.
        Mebibytes(reserve + (1 << 20) - 1));
  }
  return "";
}

}  // namespace vernier::launch
