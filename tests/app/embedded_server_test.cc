// The server of include/vernier/server.h, with a launcher and a metric source of a program's own.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"
#include "vernier/client.h"
#include "vernier/server.h"
#include "vernier/study_file.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr char kStudyFile[] = R"(
study: s
objective: {minimize: loss}
parameters: {x: {float: [0, 1]}}
algorithm: random
budget: {trials: 3}
parallel: 1
job: {command: [nowhere, "{x}"], replicas: {chief: {count: 1}, worker: {count: 2}}}
)";

// Programs have ended well once they are started, and run nowhere.
class InstantLauncher final : public Launcher {
 public:
  explicit InstantLauncher(std::vector<GangProgram>& started) : started_(started) {}
  absl::Status CheckFits(const GangRequest& gang) const override {
    if (gang.replicas.size() <= 3) return absl::OkStatus();
    return absl::InvalidArgumentError("more than 3 replicas");
  }
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override {
    PlacedGang placed{.directory = "/nowhere"};
    for (const ReplicaRequest& replica : gang.replicas) {
      placed.placement.push_back(
          {.role = replica.role, .index = replica.index, .host = "h", .port = 1});
    }
    return placed;
  }
  absl::Status Start(const GangProgram& gang) override {
    started_.push_back(gang);
    return absl::OkStatus();
  }
  absl::StatusOr<GangStatus> Adopt(const GangRequest&, const PlacedGang&) override {
    return absl::NotFoundError("never started");
  }
  absl::StatusOr<GangStatus> Check(const AttemptId&) override {
    return GangStatus{.state = AttemptState::kSucceeded};
  }
  absl::Status Stop(const AttemptId&) override { return absl::OkStatus(); }
  absl::Status Release(const AttemptId&) override { return absl::OkStatus(); }

 private:
  std::vector<GangProgram>& started_;
};

// Says the trial's number.
class NumberReader final : public MetricReader {
 public:
  explicit NumberReader(const Trial& trial) : number_(trial.number) {}
  absl::StatusOr<std::vector<Measurement>> Read() override {
    return std::vector<Measurement>{
        {.step = 1, .metrics = {{"loss", static_cast<double>(number_.value())}}}};
  }

 private:
  const TrialNumber number_;
};

class EmbeddedServerTest : public ::testing::Test {
 protected:
  EmbeddedServerTest() {
    options_.store = folder_ / "s.db";
    options_.listen = {"unix:" + (folder_ / "s.sock")};
    options_.launcher = [this](const Clock&) {
      return std::make_unique<InstantLauncher>(started_);
    };
    options_.metrics = [](const StudySpec&, const Trial& trial, const GangProgram&) {
      return std::make_unique<NumberReader>(trial);
    };
  }

  app::TemporaryFolder folder_;
  std::vector<GangProgram> started_;
  ServerOptions options_;
};

TEST_F(EmbeddedServerTest, RunsTrialsThroughTheLauncherAndReadsMetricsFromTheSourceOfItsProgram) {
  const auto server = Server::Start(options_);
  ASSERT_THAT(server, IsOk());
  const auto client = Client::Connect((*server)->addresses().front());
  ASSERT_THAT(client->CreateStudy(*ParseStudyFile(kStudyFile)), IsOk());
  ASSERT_THAT(
      client->WatchStudy("s", EventSeq(), /*follow=*/true, [](const Event&) { return true; }),
      IsOk());
  const auto trials = client->ListTrials("s");
  ASSERT_THAT(trials, IsOk());
  ASSERT_EQ(trials->size(), 3U);
  for (const Trial& trial : *trials) {
    EXPECT_EQ(trial.state, TrialState::kCompleted);
    EXPECT_EQ(trial.final_metrics.at("loss"), static_cast<double>(trial.number.value()));
  }
  (*server)->Shutdown();
  ASSERT_EQ(started_.size(), 3U);
  EXPECT_EQ(started_.front().replicas.size(), 3U);  // A chief and two workers.
}

TEST_F(EmbeddedServerTest, RefusesWhatItsLauncherCannotRun) {
  const auto server = Server::Start(options_);
  ASSERT_THAT(server, IsOk());
  const auto client = Client::Connect((*server)->addresses().front());
  StudySpec spec = *ParseStudyFile(kStudyFile);
  spec.job->replicas[Role::kWorker].count = 7;
  EXPECT_THAT(client->CreateStudy(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 3 replicas")));
}

TEST_F(EmbeddedServerTest, DoesNotStartWithoutItsLauncher) {
  options_.launcher = [](const Clock&) -> absl::StatusOr<std::unique_ptr<Launcher>> {
    return absl::UnavailableError("the cluster does not answer");
  };
  EXPECT_THAT(Server::Start(options_),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the cluster does not answer")));
}

}  // namespace
}  // namespace vernier
