// A store or a launcher that cannot write for a while, under an engine that lives on.

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/fake_cluster.h"
#include "tests/support/fault_storage.h"
#include "tests/support/status_matchers.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kTrials = 3;
const std::vector<double> kValues = {0.1, 0.2, 0.3};

StudySpec OneAtATime() {
  StudySpec spec;
  spec.name = "study";
  spec.objectives = {{"accuracy", Goal::kMaximize}};
  spec.space = Space::Create({{.name = "x", .domain = FloatDomain{}}}).value();
  spec.algorithm = {.name = "random", .options = {}};
  spec.parallel = 1;
  spec.budget.trials = kTrials;
  spec.job = TrainingJob{};
  spec.job->command = {"train"};
  return spec;
}

// Everything from the store to the machines, which have room for one trial: one whose room is not given back blocks the
// next.
class Fixture {
 public:
  Fixture() {
    world_.script = [](const GangProgram&) { return Script{.values = kValues, .message = ""}; };
    id_ = studies_->CreateStudy(OneAtATime(), {.actor = "test", .request_id = ""})->id;
  }

  FaultStorage& storage() { return storage_; }
  FakeWorld& world() { return world_; }
  Studies& studies() { return *studies_; }
  StudyId id() const { return id_; }
  Study study() const { return studies_->GetStudy(id_).value(); }

  absl::Status StepAndTurn() {
    const absl::Status stepped = engine_->Step().status();
    world_.Turn();
    clock_.Advance(absl::Seconds(1));
    return stepped;
  }
  void RunToEnd() {
    for (int turn = 0; turn < 200 && !IsFinished(study().state); ++turn) {
      ASSERT_THAT(StepAndTurn(), IsOk());
    }
  }

 private:
  EngineOptions Options() {
    EngineOptions options;
    options.metrics = [this](const StudySpec& spec, const Trial&, const GangProgram& gang)
        -> absl::StatusOr<std::unique_ptr<MetricReader>> {
      return NewFakeReader(world_, gang.id, spec.objectives.front().metric);
    };
    return options;
  }

  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeWorld world_{/*slots=*/1};
  const std::unique_ptr<Storage> memory_ = NewMemoryStorage();
  FaultStorage storage_{*memory_};
  const std::unique_ptr<Studies> studies_ = Studies::Create(storage_, clock_);
  FakeLauncher launcher_{world_};
  const std::unique_ptr<Engine> engine_ = Engine::Create(*studies_, launcher_, clock_, Options());
  StudyId id_;
};

// Refuses the nth write and all that follow for some steps, for every n.
TEST(EngineWithAFailingStore, GoesOnAfterARefusalAtEveryWriteAndLosesNothing) {
  bool was_refused = true;
  int refused_at = 0;
  for (; was_refused; ++refused_at) {
    ASSERT_LT(refused_at, 200);
    SCOPED_TRACE(refused_at);
    Fixture fixture;
    fixture.storage().FailAfter(refused_at);
    while (fixture.storage().refused() == 0 && !IsFinished(fixture.study().state)) {
      fixture.StepAndTurn().IgnoreError();
    }
    was_refused = fixture.storage().refused() > 0;
    for (int step = 0; was_refused && step < 3; ++step) fixture.StepAndTurn().IgnoreError();
    fixture.storage().FailCommits(0, absl::OkStatus());
    fixture.RunToEnd();

    ASSERT_EQ(fixture.study().completed, kTrials);
    ASSERT_EQ(std::ssize(fixture.world().jobs), kTrials);
    for (const auto& [id, job] : fixture.world().jobs) ASSERT_EQ(job.starts, 1);
    ASSERT_OK_AND_ASSIGN(const auto trials, fixture.studies().ListTrials(fixture.id()));
    for (const Trial& trial : trials) {
      ASSERT_EQ(trial.attempts.size(), 1u);
      ASSERT_EQ(trial.measurements, std::ssize(kValues));
      ASSERT_EQ(trial.final_metrics.at("accuracy"), kValues.back());
    }
    ASSERT_OK_AND_ASSIGN(const ReplayReport report, fixture.studies().Replay(fixture.id()));
    ASSERT_FALSE(report.diverged());
  }
  EXPECT_GT(refused_at, 20);
}

TEST(EngineWithAFailingStore, SaysWhyNoTrialCanBeMade) {
  Fixture fixture;
  fixture.storage().FailCommits(1, absl::ResourceExhaustedError("the disk is full"));
  EXPECT_THAT(fixture.StepAndTurn(),
              StatusIs(absl::StatusCode::kResourceExhausted, "the disk is full"));
  fixture.RunToEnd();
  EXPECT_EQ(fixture.study().completed, kTrials);
}

TEST(EngineWithAFullDisk, StartsAnAttemptWhenThereIsRoomInsteadOfFailingItsTrial) {
  Fixture fixture;
  fixture.world().starts_without_room = 3;
  for (int step = 0; step < 3; ++step) {
    EXPECT_THAT(
        fixture.StepAndTurn(),
        StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("No space left on device")));
  }
  fixture.RunToEnd();
  EXPECT_EQ(fixture.study().completed, kTrials);
  EXPECT_EQ(fixture.study().failed, 0);
  for (const auto& [id, job] : fixture.world().jobs) EXPECT_EQ(job.starts, 1);
}

}  // namespace
}  // namespace vernier::testing
