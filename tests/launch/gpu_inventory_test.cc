#include "src/launch/local/gpu_inventory.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/programs.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"

namespace vernier::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::StatusIs;
using ::vernier::testing::kGiB;
using ::vernier::testing::kMiB;

// A machine that is busy must not make a test fail that waits for nothing.
constexpr absl::Duration kPatience = absl::Seconds(20);

TEST(GpuLines, NameTypesAsPeopleDo) {
  EXPECT_THAT(
      ParseGpuLines("0, Tesla T4, 15360, GPU-8932f937\n1, NVIDIA A100-SXM4-40GB, 40960, GPU-1\n"
                    "2, NVIDIA H200, [N/A], \n3, NVIDIA GeForce RTX 3090\n"
                    "No devices were found\n\n, , ,\n4, \n"),
      ElementsAre(GpuDevice{"GPU-8932f937", "T4", 15 * kGiB},
                  GpuDevice{"GPU-1", "A100", 40 * kGiB},
                  GpuDevice{"2", "H200", 0},
                  GpuDevice{"3", "RTX-3090", 0}));
}

TEST(DeclaredGpus, AreTypeIdAndMemoryOrLess) {
  EXPECT_THAT(
      ParseDeclaredGpus({"T4:0", "1", "A100:GPU-5e:40GiB"}).value(),
      ElementsAre(
          GpuDevice{"0", "T4", 0}, GpuDevice{"1", "", 0}, GpuDevice{"GPU-5e", "A100", 40 * kGiB}));
  for (const char* const bad :
       {"", "T4:", ":", "T4:0:", "T4:0:x", "T4:0:0", "T4:0:1GiB:2", "0,1"}) {
    EXPECT_THAT(ParseDeclaredGpus({bad}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "gpu '" + std::string(bad) +
                             "': must be TYPE:ID:MEMORY, TYPE:ID or ID, as in 'T4:0:16GiB'"))
        << bad;
  }
}

TEST(BoundedProgram, GivesWhatASuccessfulOnePrints) {
  EXPECT_EQ(OutputOf({"sh", "-c", "echo a; echo b >&2"}, kPatience).value(), "a\n");
  EXPECT_THAT(OutputOf({"sh", "-c", "echo a; exit 3"}, kPatience),
              StatusIs(absl::StatusCode::kUnavailable, "'sh' failed"));
  EXPECT_THAT(OutputOf({"vernier-no-such-program"}, kPatience),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(BoundedProgram, DoesNotWaitForOneThatHangs) {
  const std::unique_ptr<Clock> clock = NewRealClock();
  const absl::Time start = clock->Now();
  for (const char* const script : {"sleep 1000", "exec >&-; sleep 1000"}) {
    EXPECT_THAT(OutputOf({"sh", "-c", script}, absl::Milliseconds(50)),
                StatusIs(absl::StatusCode::kDeadlineExceeded, "'sh' did not answer within 50ms"));
  }
  EXPECT_LT(clock->Now() - start, kPatience);
}

// Sets a variable of the environment until it is destroyed.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* const before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
  bool had_ = false;
  std::string before_;
};

// A host whose driver is the test's: a library that does what FAKE_NVML says (fake_nvml.cc), a script for nvidia-smi.
class GpuDetectionTest : public ::testing::Test {
 protected:
  GpuDetectionTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vernier-gpu-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_.emplace("PATH", folder_ + ":" + std::getenv("PATH"));
    WriteNvidiaSmi("exit 9");
  }
  ~GpuDetectionTest() override { std::filesystem::remove_all(folder_); }

  void WriteNvidiaSmi(const std::string& script) const {
    const std::string path = folder_ + "/nvidia-smi";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    chmod(path.c_str(), 0700);
  }

  // What is detected where the driver's library is there and behaves as told.
  static absl::StatusOr<std::vector<GpuDevice>> DetectWithLibrary(
      const char* behaviour, absl::Duration patience = kPatience) {
    const Variable library("LD_LIBRARY_PATH", VERNIER_FAKE_NVML);
    const Variable what("FAKE_NVML", behaviour);
    return DetectGpus(VERNIER_SUPERVISOR, patience);
  }

 private:
  std::string folder_;
  std::optional<Variable> path_;
};

TEST_F(GpuDetectionTest, AsksTheDriversLibrary) {
  EXPECT_THAT(DetectWithLibrary("works").value(),
              ElementsAre(GpuDevice{"GPU-00000000-aaaa", "T4", 15360 * kMiB},
                          GpuDevice{"GPU-00000002-aaaa", "H200", 143771 * kMiB}));
}

TEST_F(GpuDetectionTest, AHostWithoutDevicesNeedsNoSecondOpinion) {
  WriteNvidiaSmi("echo '0, Tesla T4, 15360, GPU-x'");
  EXPECT_THAT(DetectWithLibrary("empty").value(), IsEmpty());
}

TEST_F(GpuDetectionTest, FallsBackToTheDriversProgram) {
  WriteNvidiaSmi(
      "[ \"$1\" = --query-gpu=index,name,memory.total,uuid ] && "
      "echo '0, Tesla T4, 15360, GPU-x'");
  EXPECT_THAT(DetectWithLibrary("fails").value(),
              ElementsAre(GpuDevice{"GPU-x", "T4", 15360 * kMiB}));
}

TEST_F(GpuDetectionTest, WithoutADriverThereIsNone) {
  EXPECT_THAT(DetectWithLibrary("fails").value(), IsEmpty());
}

TEST_F(GpuDetectionTest, ADriverThatHangsIsLeftAlone) {
  EXPECT_THAT(DetectWithLibrary("hangs", absl::Milliseconds(200)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("did not answer within")));
  WriteNvidiaSmi("sleep 1000");
  EXPECT_THAT(DetectWithLibrary("fails", absl::Milliseconds(200)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("nvidia-smi")));
}

}  // namespace
}  // namespace vernier::launch
