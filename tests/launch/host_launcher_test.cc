// The launcher of include/vernier/local_launcher.h.
#include <filesystem>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"
#include "vernier/local_launcher.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

TEST(LocalLauncher, NamesAnOptionThatItCannotTake) {
  const auto clock = NewRealClock();
  EXPECT_THAT(NewLocalLauncher({.supervisor = VERNIER_SUPERVISOR}, *clock),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("runs_directory")));
  EXPECT_THAT(
      NewLocalLauncher({.runs_directory = "/tmp/x", .supervisor = VERNIER_SUPERVISOR, .cpus = 0},
                       *clock),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cpus")));
  EXPECT_THAT(NewLocalLauncher({.runs_directory = "/tmp/x", .supervisor = "/no/such"}, *clock),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such")));
}

TEST(LocalLauncher, HasTheHostThatItsOptionsSay) {
  const auto clock = NewRealClock();
  const std::string folder = ::testing::TempDir() + "local_launcher_runs";
  const auto launcher = NewLocalLauncher({.runs_directory = folder,
                                          .supervisor = VERNIER_SUPERVISOR,
                                          .cpus = 3,
                                          .memory_bytes = 1 << 30,
                                          .gpus = {"T4:0", "T4:1"}},
                                         *clock);
  ASSERT_THAT(launcher, IsOk());
  const std::vector<Node> nodes = (*launcher)->Nodes();
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].cpus, 3);
  EXPECT_EQ(nodes[0].memory_bytes, 1 << 30);
  ASSERT_EQ(nodes[0].devices.size(), 1U);
  EXPECT_EQ(nodes[0].devices[0].count, 2);
  EXPECT_THAT((*launcher)->CheckFits({.replicas = {{.role = "chief", .resources = {.cpus = 4}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace vernier
