#include "src/launch/cluster_launcher.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

// Takes every gang, and says which.
class RoomyLauncher final : public Launcher {
 public:
  explicit RoomyLauncher(std::vector<AttemptId>& placed) : placed_(placed) {}
  absl::Status CheckFits(const GangRequest&) const override { return absl::OkStatus(); }
  absl::StatusOr<PlacedGang> Place(const GangRequest& request) override {
    placed_.push_back(request.id);
    return PlacedGang();
  }
  absl::Status Start(const GangProgram&) override { return absl::OkStatus(); }
  absl::StatusOr<GangStatus> Adopt(const GangRequest&, const PlacedGang&) override {
    return GangStatus();
  }
  absl::StatusOr<GangStatus> Check(const AttemptId&) override { return GangStatus(); }
  absl::Status Stop(const AttemptId&) override { return absl::OkStatus(); }
  absl::Status Release(const AttemptId&) override { return absl::OkStatus(); }
  std::vector<Node> Nodes() override { return {{.name = "here"}}; }
  std::vector<QueuedGang> Queue() override { return {}; }

 private:
  std::vector<AttemptId>& placed_;
};

class ClusterLauncherTest : public ::testing::Test {
 protected:
  ClusterLauncherTest() {
    std::map<std::string, std::unique_ptr<Launcher>> clusters;
    clusters[kLocalCluster] = std::make_unique<RoomyLauncher>(local_);
    launcher_ = NewClusterLauncher(std::move(clusters), kLocalCluster);
  }
  static GangRequest Request(std::string cluster) {
    GangRequest request;
    request.id = {{StudyId(1), TrialNumber(2)}, AttemptNumber(1)};
    request.study = "digits";
    request.cluster = std::move(cluster);
    request.replicas = {{.role = "chief"}};
    request.queued = absl::FromUnixSeconds(100);
    return request;
  }

  std::vector<AttemptId> local_;
  std::unique_ptr<Launcher> launcher_;
};

TEST_F(ClusterLauncherTest, AJobThatNamesNoneIsOfTheUsualCluster) {
  EXPECT_THAT(launcher_->Place(Request("")), IsOk());
  EXPECT_THAT(local_, SizeIs(1));
  EXPECT_THAT(launcher_->Nodes(), SizeIs(1));
}

// A daemon that was started again without its configuration must not run the trials of a cluster on its own host.
TEST_F(ClusterLauncherTest, TrialsOfAnUnknownClusterWaitForIt) {
  const GangRequest request = Request("hpc");
  EXPECT_THAT(launcher_->CheckFits(request),
              StatusIs(absl::StatusCode::kInvalidArgument, "unknown cluster 'hpc'; known: local"));
  EXPECT_THAT(launcher_->Prepare(request), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(launcher_->Place(request).status(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(launcher_->Adopt(request, {}).status(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(local_, IsEmpty());
  const std::vector<QueuedGang> queue = launcher_->Queue();
  ASSERT_THAT(queue, SizeIs(1));
  EXPECT_EQ(queue[0].study, "digits");
  EXPECT_EQ(queue[0].queued, absl::FromUnixSeconds(100));
  EXPECT_EQ(queue[0].reason, "unknown cluster 'hpc'; known: local; see --config");
  EXPECT_THAT(launcher_->Release(request.id), IsOk());
  EXPECT_THAT(launcher_->Queue(), IsEmpty());
}

}  // namespace
}  // namespace vernier::launch
