// The book with a controller that the test plays: it loses answers, is down, and forgets.
#include "src/launch/slurm/job_book.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::vernier::testing::StatusIs;

// A controller whose state outlives the object, as a real one does its clients.
struct Controller {
  std::vector<JobRecord> jobs;
  std::vector<std::int64_t> cancelled;
  std::vector<std::string> stops;
  int submissions = 0;
  int looks = 0;
  bool is_down = false;
  bool loses_answers = false;  // Accepts a job, and the answer does not arrive.
  absl::Status refuses;
};

class FakeSlurm final : public Slurm {
 public:
  explicit FakeSlurm(Controller& controller) : controller_(controller) {}

  absl::StatusOr<std::int64_t> Submit(const BatchJob& job) override {
    if (controller_.is_down) return absl::UnavailableError("Unable to contact slurm controller");
    if (!controller_.refuses.ok()) return controller_.refuses;
    const std::int64_t id = 100 + ++controller_.submissions;
    controller_.jobs.push_back(
        {.id = id, .leader = id, .comment = job.comment, .state = JobState::kPending});
    if (controller_.loses_answers) return absl::UnavailableError("Socket timed out");
    return id;
  }
  absl::Status Test(const BatchJob&) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<JobRecord>> Jobs() override {
    ++controller_.looks;
    if (controller_.is_down) return absl::UnavailableError("Unable to contact slurm controller");
    return controller_.jobs;
  }
  absl::Status Stop(std::int64_t id, Listener listener) override {
    if (controller_.is_down) return absl::UnavailableError("Unable to contact slurm controller");
    const char* const to = listener == Listener::kScript ? " of the script" : "";
    controller_.stops.push_back(std::to_string(id) + to);
    return absl::OkStatus();
  }
  absl::Status Cancel(std::int64_t id) override {
    if (controller_.is_down) return absl::UnavailableError("Unable to contact slurm controller");
    controller_.cancelled.push_back(id);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<NodeRecord>> Nodes() override {
    return std::vector<NodeRecord>{{.name = "n1"}};
  }

 private:
  Controller& controller_;
};

class JobBookTest : public ::testing::Test {
 protected:
  JobBookTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vernier-book-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    NewBook();
  }
  ~JobBookTest() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  // As another process makes it.
  void NewBook() {
    book_ = std::make_unique<JobBook>(
        std::make_unique<FakeSlurm>(controller_),
        clock_,
        absl::Seconds(1),
        [this](const AttemptId& id) { changed_.insert(id); },
        [this](const std::string& comment) { return spent_.contains(comment); });
  }
  void Submit(bool may_be_there = false) {
    book_->Submit(kId, {.name = "a", .comment = "vernier " + folder_}, folder_, may_be_there);
  }
  // One round, a while later.
  void Round() {
    clock_.Advance(absl::Seconds(20));
    book_->Work();
  }
  JobView View() const { return book_->ViewOf(kId); }

  static constexpr AttemptId kId = {{StudyId(1), TrialNumber(2)}, AttemptNumber(1)};
  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Controller controller_;
  std::string folder_;
  std::set<AttemptId> changed_;
  std::set<std::string> spent_;
  std::unique_ptr<JobBook> book_;
};

TEST_F(JobBookTest, SubmitsOnceAndFollows) {
  Submit();
  Submit();
  Round();
  EXPECT_EQ(View().id, 101);
  // The answer of this round is older than the job.
  EXPECT_FALSE(View().is_seen);
  EXPECT_FALSE(View().IsOver());
  Round();
  EXPECT_EQ(controller_.submissions, 1);
  ASSERT_EQ(View().components.size(), 1U);
  EXPECT_EQ(View().ExpectedStart(), std::nullopt);
  EXPECT_THAT(changed_, ElementsAre(kId));
  controller_.jobs[0].started = absl::FromUnixSeconds(1000);
  Round();
  EXPECT_EQ(View().ExpectedStart(), absl::FromUnixSeconds(1000));
  controller_.jobs[0].state = JobState::kRunning;
  Round();
  EXPECT_EQ(View().ExpectedStart(), std::nullopt);
  controller_.jobs[0].state = JobState::kCompleted;
  Round();
  EXPECT_TRUE(View().IsOver());
}

TEST_F(JobBookTest, ALostAnswerIsLookedUp) {
  controller_.loses_answers = true;
  Submit();
  Round();
  EXPECT_EQ(View().id, std::nullopt);
  controller_.loses_answers = false;
  Round();
  EXPECT_EQ(View().id, 101);
  EXPECT_EQ(controller_.submissions, 1);
}

TEST_F(JobBookTest, AnotherProcessFindsTheJob) {
  controller_.loses_answers = true;
  Submit();
  Round();
  NewBook();  // The first died after its job was accepted.
  Submit(/*may_be_there=*/true);
  Round();
  EXPECT_EQ(View().id, 101);
  NewBook();
  Submit(/*may_be_there=*/true);
  Round();
  EXPECT_EQ(View().id, 101);  // By the record of the second.
  EXPECT_EQ(controller_.submissions, 1);
}

TEST_F(JobBookTest, WhatWasNeverAcceptedIsSubmittedAgain) {
  controller_.is_down = true;
  Submit();
  Round();
  EXPECT_THAT(book_->Trouble(), StatusIs(absl::StatusCode::kUnavailable));
  NewBook();
  controller_.is_down = false;
  Submit(/*may_be_there=*/true);
  Round();
  EXPECT_EQ(View().id, 101);
  EXPECT_EQ(controller_.submissions, 1);
}

TEST_F(JobBookTest, AControllerThatIsDownSaysNothingOfJobs) {
  Submit();
  Round();
  Round();
  controller_.is_down = true;
  Round();
  EXPECT_FALSE(View().IsOver());
  EXPECT_EQ(View().components.size(), 1U);
  EXPECT_THAT(book_->Trouble(), StatusIs(absl::StatusCode::kUnavailable));
  controller_.is_down = false;
  controller_.jobs.clear();  // It forgot.
  Round();
  EXPECT_TRUE(View().IsOver());
  EXPECT_THAT(View().components, IsEmpty());
  EXPECT_TRUE(book_->Trouble().ok());
}

TEST_F(JobBookTest, CancelsJobsThatComeBackAfterTheirEnd) {
  Submit();
  Round();
  Round();
  spent_ = {"vernier " + folder_, "vernier /other"};
  controller_.jobs = {
      {.id = 101, .leader = 101, .comment = "vernier " + folder_, .state = JobState::kPending},
      {.id = 7, .leader = 7, .comment = "vernier /other", .state = JobState::kPending},
      {.id = 8, .leader = 7, .comment = "vernier /other", .state = JobState::kPending},
      {.id = 9, .leader = 9, .comment = "vernier /other", .state = JobState::kCompleted},
      {.id = 10, .leader = 10, .comment = "of somebody else", .state = JobState::kRunning}};
  Round();
  EXPECT_THAT(controller_.cancelled, ElementsAre(7)) << "the followed one is not for others";
  // Also once nothing is followed any more, for a while.
  book_->Forget(kId);
  Round();
  controller_.cancelled.clear();
  Round();
  EXPECT_THAT(controller_.cancelled, ElementsAre(101, 7));
  clock_.Advance(absl::Minutes(5));
  Round();
  const int looks = controller_.looks;
  Round();
  EXPECT_EQ(controller_.looks, looks);
}

TEST_F(JobBookTest, ARefusalIsKept) {
  controller_.refuses =
      absl::InvalidArgumentError("sbatch: Requested node configuration is not available");
  Submit();
  Round();
  EXPECT_THAT(View().refused, StatusIs(absl::StatusCode::kInvalidArgument));
  Round();
  EXPECT_EQ(controller_.submissions, 0);
}

// A configuration that is wrong must not spend the budgets of studies.
TEST_F(JobBookTest, AJobThatTheSiteRefusesWaits) {
  controller_.refuses = absl::InvalidArgumentError("sbatch: invalid partition specified: gpu");
  Submit();
  Round();
  EXPECT_EQ(View().held, "sbatch: invalid partition specified: gpu");
  EXPECT_TRUE(View().refused.ok());
  controller_.refuses = absl::OkStatus();
  Round();
  EXPECT_EQ(controller_.submissions, 0) << "half a minute has not passed";
  Round();
  EXPECT_EQ(controller_.submissions, 1);
  EXPECT_EQ(View().id, 101);
  EXPECT_EQ(View().held, "");
}

TEST_F(JobBookTest, TellsTheScriptThatIsTheOnlyTask) {
  book_->Submit(kId,
                {.name = "a", .comment = "vernier " + folder_, .listener = Listener::kScript},
                folder_,
                /*may_be_there=*/false);
  Round();
  book_->Stop(kId);
  Round();
  EXPECT_THAT(controller_.stops, ElementsAre("101 of the script"));
}

TEST_F(JobBookTest, StopsAndCancelsUntilTheControllerHasHeard) {
  Submit();
  Round();
  controller_.is_down = true;
  book_->Stop(kId);
  Round();
  controller_.is_down = false;
  Round();
  EXPECT_THAT(controller_.stops, ElementsAre("101"));
  Round();
  EXPECT_EQ(controller_.stops.size(), 1U);
  controller_.is_down = true;
  book_->Cancel(kId);
  Round();
  controller_.is_down = false;
  Round();
  EXPECT_THAT(controller_.cancelled, ElementsAre(101));
}

TEST_F(JobBookTest, WhatIsForgottenIsCancelled) {
  Submit();
  Round();
  book_->Forget(kId);
  Round();
  EXPECT_THAT(controller_.cancelled, ElementsAre(101));
  EXPECT_EQ(View().id, std::nullopt);
}

TEST_F(JobBookTest, WhatIsForgottenBeforeItWasSubmittedNeverIs) {
  Submit();
  book_->Forget(kId);
  Round();
  EXPECT_EQ(controller_.submissions, 0);
}

TEST_F(JobBookTest, AJobWhoseAnswerWasLostIsCancelledWhenItIsForgotten) {
  controller_.loses_answers = true;
  Submit();
  Round();
  book_->Forget(kId);
  Round();
  Round();
  EXPECT_THAT(controller_.cancelled, ElementsAre(101));
}

TEST_F(JobBookTest, AFinishedJobIsNotCancelled) {
  Submit();
  Round();
  controller_.jobs[0].state = JobState::kCompleted;
  Round();
  book_->Forget(kId);
  Round();
  EXPECT_THAT(controller_.cancelled, IsEmpty());
}

TEST_F(JobBookTest, AJobWhoseReplicasHaveEndedGoesByItself) {
  Submit();
  Round();
  book_->Retire(kId);
  book_->Forget(kId);
  clock_.Advance(absl::Seconds(2));
  book_->Work();
  EXPECT_EQ(View().id, 101);  // Until it has gone.
  controller_.jobs[0].state = JobState::kCompleted;
  Round();
  Round();
  EXPECT_EQ(View().id, std::nullopt);
  EXPECT_THAT(controller_.cancelled, IsEmpty());
}

TEST_F(JobBookTest, AJobThatStaysAfterItsReplicasIsCancelledOnce) {
  Submit();
  Round();
  book_->Retire(kId);
  book_->Forget(kId);
  for (int round = 0; round < 4; ++round) Round();
  EXPECT_THAT(controller_.cancelled, ElementsAre(101));
  EXPECT_EQ(View().id, std::nullopt);
}

// Neither orders nor a job that may be there make the controller be asked more often.
TEST_F(JobBookTest, LooksAtMostOnceInAnInterval) {
  controller_.loses_answers = true;
  Submit();
  for (int round = 0; round < 100; ++round) {
    book_->Stop(kId);
    clock_.Advance(absl::Milliseconds(50));
    book_->Work();
  }
  EXPECT_GE(controller_.looks, 4);
  EXPECT_LE(controller_.looks, 6);
  EXPECT_EQ(controller_.submissions, 1);
}

TEST_F(JobBookTest, OneLookServesAll) {
  for (int trial = 1; trial <= 50; ++trial) {
    const std::string folder = folder_ + "/" + std::to_string(trial);
    std::filesystem::create_directories(folder);
    book_->Submit({{StudyId(1), TrialNumber(trial)}, AttemptNumber(1)},
                  {.comment = "vernier " + folder},
                  folder,
                  /*may_be_there=*/false);
  }
  Round();
  Round();
  for (int trial = 1; trial <= 50; ++trial) {
    EXPECT_TRUE(book_->ViewOf({{StudyId(1), TrialNumber(trial)}, AttemptNumber(1)}).is_seen);
  }
  EXPECT_EQ(controller_.submissions, 50);
  ASSERT_EQ(book_->Nodes().size(), 1U);
}

}  // namespace
}  // namespace vernier::launch::slurm
