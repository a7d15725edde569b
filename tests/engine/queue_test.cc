// What the engine tells the launcher of trials that wait for room.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/status_matchers.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Caller kUser{.actor = "test", .request_id = ""};

// A job of one slot that runs until it is stopped.
StudySpec SpecOf(const std::string& name, std::int32_t parallel, std::int32_t priority = 0) {
  StudySpec spec = AnySpec(/*trials=*/100, parallel);
  spec.name = name;
  spec.job->replicas.erase(Role::kWorker);
  spec.job->priority = priority;
  return spec;
}

class EngineQueueTest : public ::testing::Test {
 protected:
  EngineQueueTest() { Restart(); }

  // A new process over the same store and the same running jobs.
  void Restart() {
    studies_ = Studies::Create(*storage_, clock_);
    launcher_.emplace(world_);
    engine_ = Engine::Create(*studies_, *launcher_, clock_, {});
  }
  Study Create(const StudySpec& spec) {
    clock_.Advance(absl::Seconds(1));
    const auto study = studies_->CreateStudy(spec, kUser);
    EXPECT_THAT(study, IsOk());
    return *study;
  }
  void Step() { ASSERT_THAT(engine_->Step(), IsOk()); }
  // Ends a running trial, by which its room becomes free for the next step.
  void End(StudyId study, std::int64_t trial) {
    world_.jobs.at({{study, TrialNumber(trial)}, AttemptNumber(1)}).state = AttemptState::kFailed;
  }
  std::vector<std::string> Waiting() {
    std::vector<std::string> lines;
    for (const QueuedGang& gang : launcher_->Queue()) {
      lines.push_back(gang.study + " " + std::to_string(gang.id.trial.number.value()));
    }
    return lines;
  }
  std::vector<std::string> Started() const {
    std::vector<std::string> lines;
    for (const auto& [id, job] : world_.jobs) {
      lines.push_back(std::to_string(id.trial.study.value()) + " " +
                      std::to_string(id.trial.number.value()));
    }
    return lines;
  }

  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeWorld world_{/*slots=*/1};
  std::unique_ptr<Storage> storage_ = NewMemoryStorage();
  std::unique_ptr<Studies> studies_;
  std::optional<FakeLauncher> launcher_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineQueueTest, TellsThePriorityAndTheAgeOfAGang) {
  const Study study = Create(SpecOf("a", /*parallel=*/2, /*priority=*/7));
  Step();
  const std::vector<QueuedGang> queue = launcher_->Queue();
  ASSERT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue[0].priority, 7);
  EXPECT_EQ(queue[0].queued,
            studies_->GetTrial({study.id, TrialNumber(2)}).value_or(Trial()).created);
}

TEST_F(EngineQueueTest, AsksForUrgentTrialsFirstWhateverTheirStudy) {
  const Study relaxed = Create(SpecOf("relaxed", 2));
  Step();
  const Study urgent = Create(SpecOf("urgent", 1, 10));
  Step();
  EXPECT_THAT(Waiting(), ElementsAre("relaxed 2", "urgent 1"));
  End(relaxed.id, 1);
  Step();
  EXPECT_THAT(Started(), ElementsAre("1 1", "2 1"));
  EXPECT_THAT(Waiting(), ElementsAre("relaxed 2", "relaxed 3"));
}

TEST_F(EngineQueueTest, AsksForTheElderFirstAfterARestart) {
  const Study first = Create(SpecOf("first", 1));
  Step();  // Runs.
  const Study second = Create(SpecOf("second", 1));
  Step();  // Waits; then "first" wants another, which is younger.
  ASSERT_THAT(studies_->Amend(first.id, {.parallel = 2}, kUser), IsOk());
  clock_.Advance(absl::Seconds(1));
  Step();
  EXPECT_THAT(Waiting(), ElementsAre("first 2", "second 1"));
  End(first.id, 1);
  Restart();
  Step();
  EXPECT_THAT(Started(), ElementsAre("1 1", "2 1"));
}

TEST_F(EngineQueueTest, AdoptsWhatRunsInEveryStudyBeforeItPlacesAnything) {
  const Study first = Create(SpecOf("first", 1));
  ASSERT_THAT(studies_->Pause(first.id, kUser), IsOk());
  const Study second = Create(SpecOf("second", 1));
  Step();
  EXPECT_THAT(Started(), ElementsAre("2 1"));
  ASSERT_THAT(studies_->Resume(first.id, kUser), IsOk());
  Restart();
  Step();
  EXPECT_THAT(Started(), ElementsAre("2 1"));
  EXPECT_EQ(world_.most_used(), 1);
}

TEST_F(EngineQueueTest, AStoppedTrialLeavesTheQueue) {
  const Study study = Create(SpecOf("a", 2));
  Step();
  ASSERT_THAT(Waiting(), ElementsAre("a 2"));
  ASSERT_THAT(studies_->StopTrial({study.id, TrialNumber(2)}, "boring", kUser), IsOk());
  ASSERT_THAT(studies_->Amend(study.id, {.parallel = 1}, kUser), IsOk());
  Step();
  EXPECT_THAT(Waiting(), IsEmpty());
}

TEST_F(EngineQueueTest, TheTrialsOfAPausedStudyLeaveTheQueueAndComeBack) {
  const Study study = Create(SpecOf("a", 3));
  Step();
  ASSERT_THAT(Waiting(), ElementsAre("a 2", "a 3"));
  ASSERT_THAT(studies_->Pause(study.id, kUser), IsOk());
  Step();
  EXPECT_THAT(Waiting(), IsEmpty());
  ASSERT_THAT(studies_->Resume(study.id, kUser), IsOk());
  Step();
  EXPECT_THAT(Waiting(), ElementsAre("a 2", "a 3"));
}

TEST_F(EngineQueueTest, TheTrialsOfADeletedStudyLeaveTheQueue) {
  Create(SpecOf("a", 3));
  Step();
  ASSERT_THAT(Waiting(), ElementsAre("a 2", "a 3"));
  ASSERT_THAT(studies_->Delete("a", /*force=*/true, kUser), IsOk());
  Step();
  EXPECT_THAT(Waiting(), IsEmpty());
}

TEST_F(EngineQueueTest, TrialsBeyondTheirStudysBoundLeaveTheQueue) {
  const Study study = Create(SpecOf("a", 3));
  Step();
  ASSERT_THAT(Waiting(), ElementsAre("a 2", "a 3"));
  ASSERT_THAT(studies_->Amend(study.id, {.parallel = 2}, kUser), IsOk());
  Step();
  EXPECT_THAT(Waiting(), ElementsAre("a 2"));
}

TEST_F(EngineQueueTest, HoldsNoRoomWhileWhatItNeedsIsFetched) {
  world_.preparations = 3;
  const Study study = Create(SpecOf("a", /*parallel=*/1));
  Step();
  Step();
  const TrialId id{study.id, TrialNumber(1)};
  EXPECT_EQ(TrialStateName(studies_->GetTrial(id)->state), "QUEUED");
  EXPECT_THAT(Waiting(), ElementsAre("a 1"));
  EXPECT_EQ(world_.most_used(), 0);
  EXPECT_TRUE(studies_->GetTrial(id)->attempts.empty());
  Step();
  Step();
  EXPECT_THAT(Started(), ElementsAre(std::to_string(study.id.value()) + " 1"));
  EXPECT_THAT(Waiting(), IsEmpty());
}

TEST_F(EngineQueueTest, FailsATrialThatWillNeverHaveWhatItNeeds) {
  world_.prepared = absl::InvalidArgumentError("the packages x could not be installed: none");
  const Study study = Create(SpecOf("a", /*parallel=*/1));
  Step();
  const Trial trial = *studies_->GetTrial({study.id, TrialNumber(1)});
  EXPECT_EQ(TrialStateName(trial.state), "FAILED");
  EXPECT_EQ(FailureClassName(trial.failure), FailureClassName(FailureClass::kUserError));
  EXPECT_EQ(trial.message, "the packages x could not be installed: none");
  EXPECT_TRUE(trial.attempts.empty());
}

}  // namespace
}  // namespace vernier::testing
