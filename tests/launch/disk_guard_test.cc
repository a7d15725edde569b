#include "src/launch/local/disk_guard.h"

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"

namespace vernier::launch {
namespace {

using ::vernier::testing::kMiB;

DiskGuard Guard(std::map<std::string, DiskSpace> disks,
                std::optional<std::int64_t> reserve = std::nullopt) {
  return DiskGuard({{"the runs", "/runs"}, {"the store", "/store"}},
                   reserve,
                   [disks = std::move(disks)](const std::string& folder) {
                     const auto disk = disks.find(folder);
                     return disk == disks.end() ? std::optional<DiskSpace>() : disk->second;
                   });
}

struct ReserveCase {
  std::string name;
  std::int64_t total;
  std::optional<std::int64_t> said;
  std::int64_t reserve;
};

class DiskReserve : public ::testing::TestWithParam<ReserveCase> {};

TEST_P(DiskReserve, IsKeptToTheByte) {
  const auto& [name, total, said, reserve] = GetParam();
  const DiskSpace store = {.free_bytes = total, .total_bytes = total};
  const auto with = [&](std::int64_t free) {
    return Guard({{"/store", store}, {"/runs", {.free_bytes = free, .total_bytes = total}}}, said)
        .Shortage();
  };
  EXPECT_EQ(with(reserve), "");
  EXPECT_EQ(with(reserve - 1),
            "the disk of the runs has " + std::to_string((reserve - 1) / kMiB) +
                " MiB free in '/runs', new trials wait until it has " +
                std::to_string(reserve / kMiB) + " MiB");
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    DiskReserve,
    ::testing::Values(ReserveCase{"LargeDisk", 4'000'000 * kMiB, std::nullopt, 256 * kMiB},
                      ReserveCase{"OnePercentOfASmallOne", 10'000 * kMiB, std::nullopt, 100 * kMiB},
                      ReserveCase{"WhatAStartNeedsOfATinyOne", 100 * kMiB, std::nullopt, 16 * kMiB},
                      ReserveCase{"AsSaid", 10'000 * kMiB, 5'000 * kMiB, 5'000 * kMiB}),
    [](const auto& row) { return row.param.name; });

TEST(DiskGuard, LooksAtEveryDiskAndPassesOverWhatIsNotKnown) {
  EXPECT_EQ(Guard({}).Shortage(), "");
  EXPECT_EQ(
      Guard({{"/store", {.free_bytes = 0, .total_bytes = 100 * kMiB}}}).Shortage(),
      "the disk of the store has 0 MiB free in '/store', new trials wait until it has 16 MiB");
}

TEST(DiskGuard, AsksTheFileSystem) {
  const auto disk = ProbeDisk("/");
  ASSERT_TRUE(disk.has_value());
  EXPECT_GT(disk->total_bytes, 0);
  EXPECT_LE(disk->free_bytes, disk->total_bytes);
  EXPECT_FALSE(ProbeDisk("/proc/none/of/that").has_value());
}

}  // namespace
}  // namespace vernier::launch
