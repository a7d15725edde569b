#include "src/launch/local/gpu_watch.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"

namespace vernier::launch {
namespace {

using ::vernier::testing::kGiB;

GpuSample SampleOf(double first, double second, std::int64_t used) {
  return {.devices = {{.index = "0",
                       .uuid = "GPU-a",
                       .utilization = first,
                       .used_bytes = used,
                       .memory_bytes = 16 * kGiB},
                      {.index = "1",
                       .uuid = "GPU-b",
                       .utilization = second,
                       .used_bytes = kGiB,
                       .memory_bytes = 8 * kGiB}}};
}

TEST(AddSample, KeepsMeansAndPeaksOfTheReplicasDevices) {
  GpuUse use;
  AddSample(SampleOf(0.2, 0.6, 2 * kGiB), {"0", "GPU-b"}, use);
  AddSample(SampleOf(0.4, 0.8, 4 * kGiB), {"0", "GPU-b"}, use);
  EXPECT_EQ(use.samples, 2);
  EXPECT_DOUBLE_EQ(use.utilization, 0.5);
  EXPECT_DOUBLE_EQ(use.peak_utilization, 0.8);
  EXPECT_EQ(use.memory_bytes, 3 * kGiB);
  EXPECT_EQ(use.peak_memory_bytes, 4 * kGiB);
  EXPECT_EQ(use.device_memory_bytes, 8 * kGiB);
}

TEST(AddSample, IgnoresDevicesOfOthersAndSharesThatAreNotKnown) {
  GpuUse use;
  AddSample(SampleOf(0.2, 0.6, kGiB), {"7"}, use);
  EXPECT_EQ(use, GpuUse());
  GpuSample sample = SampleOf(0.2, 0.6, kGiB);
  sample.devices[0].utilization.reset();
  AddSample(sample, {"0"}, use);
  EXPECT_EQ(use.samples, 1);
  EXPECT_EQ(use.utilization, 0);
  EXPECT_EQ(use.peak_memory_bytes, kGiB);
}

// Under the driver of the tests' own (fake_nvml.cc).
class GpuWatchTest : public ::testing::Test {
 protected:
  GpuWatchTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-watch-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("LD_LIBRARY_PATH", VERNIER_FAKE_NVML, 1);
    setenv("FAKE_NVML", "works", 1);
  }
  ~GpuWatchTest() override {
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("FAKE_NVML");
    std::filesystem::remove_all(folder_);
  }
  // Until so many samples have come, or long enough.
  std::int64_t Await(GpuWatch& watch, std::int64_t samples) const {
    const absl::Time late = absl::Now() + absl::Seconds(20);
    for (;;) {
      watch.Read(absl::Now());
      const std::int64_t got = watch.UseOf(folder_).value_or(GpuUse()).samples;
      if (got >= samples || absl::Now() > late) return got;
      absl::SleepFor(absl::Milliseconds(5));
    }
  }
  std::string folder_;
};

TEST_F(GpuWatchTest, SamplesTheDevicesOfThoseWhoAreWatched) {
  GpuWatch watch(VERNIER_SUPERVISOR, absl::Milliseconds(10));
  watch.Watch(folder_, {"GPU-00000002-aaaa"});
  ASSERT_GE(Await(watch, 3), 3);
  const GpuUse use = *watch.UseOf(folder_);
  EXPECT_DOUBLE_EQ(use.utilization, 0.75);
  EXPECT_EQ(use.peak_memory_bytes, use.device_memory_bytes / 4);
}

TEST_F(GpuWatchTest, ALaterProcessGoesOnWithTheRecord) {
  std::int64_t before = 0;
  {
    GpuWatch watch(VERNIER_SUPERVISOR, absl::Milliseconds(10));
    watch.Watch(folder_, {"0"});
    before = Await(watch, 2);
    ASSERT_GE(before, 2);
  }
  GpuWatch watch(VERNIER_SUPERVISOR, absl::Milliseconds(10));
  EXPECT_EQ(watch.UseOf(folder_)->samples, before);
  watch.Watch(folder_, {"0"});
  EXPECT_GE(Await(watch, before + 1), before + 1);
  watch.Forget(folder_);
  EXPECT_DOUBLE_EQ(watch.UseOf(folder_)->utilization, 0.25);
}

TEST_F(GpuWatchTest, KnowsNothingWhereThereIsNoDriver) {
  setenv("FAKE_NVML", "fails", 1);
  GpuWatch watch(VERNIER_SUPERVISOR, absl::Milliseconds(10));
  watch.Watch(folder_, {"0"});
  const absl::Time enough = absl::Now() + absl::Milliseconds(300);
  while (absl::Now() < enough) {
    watch.Read(absl::Now());
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_FALSE(watch.UseOf(folder_).has_value());
}

TEST_F(GpuWatchTest, AsksADriverThatHangsAgainAfterAWhile) {
  setenv("FAKE_NVML", "hangs", 1);
  GpuWatch watch(VERNIER_SUPERVISOR, absl::Milliseconds(10));
  watch.Watch(folder_, {"0"});
  const absl::Time now = absl::Now();
  watch.Read(now);
  watch.Read(now + absl::Seconds(31));  // It has been silent for too long, and is ended.
  setenv("FAKE_NVML", "works", 1);
  watch.Read(now + absl::Seconds(40));
  EXPECT_FALSE(watch.UseOf(folder_).has_value());
  const absl::Time late = absl::Now() + absl::Seconds(20);
  while (!watch.UseOf(folder_).has_value() && absl::Now() < late) {
    watch.Read(now + absl::Seconds(92));
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_TRUE(watch.UseOf(folder_).has_value());
}

TEST_F(GpuWatchTest, ADamagedRecordIsNone) {
  std::ofstream(folder_ + "/gpu.json") << "{\"samples\": \"many\"}";
  const GpuWatch watch(VERNIER_SUPERVISOR);
  EXPECT_FALSE(watch.UseOf(folder_).has_value());
}

}  // namespace
}  // namespace vernier::launch
