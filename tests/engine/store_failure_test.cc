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
    absl::Status stepped = engine_->Step().status();
    if (!engine_->troubles().empty()) stepped.Update(engine_->troubles().front().error);
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

// Starts nothing of one study.
class RefusingLauncher final : public Launcher {
 public:
  RefusingLauncher(Launcher& launcher, StudyId refused) : launcher_(launcher), study_(refused) {}
  void Mend() { mended_ = true; }
  int refused() const { return refused_; }

  absl::Status CheckFits(const GangRequest& gang) const override {
    return launcher_.CheckFits(gang);
  }
  absl::Status Prepare(const GangRequest& gang) override { return launcher_.Prepare(gang); }
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override {
    return launcher_.Place(gang);
  }
  std::vector<Node> Nodes() override { return launcher_.Nodes(); }
  std::vector<QueuedGang> Queue() override { return launcher_.Queue(); }
  absl::Status Start(const GangProgram& gang) override {
    if (mended_ || gang.id.trial.study != study_) return launcher_.Start(gang);
    ++refused_;
    return absl::ResourceExhaustedError("the host is ill");
  }
  absl::StatusOr<GangStatus> Adopt(const GangRequest& gang, const PlacedGang& placed) override {
    return launcher_.Adopt(gang, placed);
  }
  absl::StatusOr<GangStatus> Check(const AttemptId& id) override { return launcher_.Check(id); }
  absl::Status Stop(const AttemptId& id) override { return launcher_.Stop(id); }
  absl::Status Release(const AttemptId& id) override { return launcher_.Release(id); }

 private:
  Launcher& launcher_;
  const StudyId study_;
  bool mended_ = false;
  int refused_ = 0;
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

TEST(EngineWithAFailingLauncher, MovesAllStudiesButTheOneThatIsRefused) {
  ManualClock clock(absl::FromUnixSeconds(1'700'000'000));
  FakeWorld world(/*slots=*/2);
  world.script = [](const GangProgram&) { return Script{.values = kValues, .message = ""}; };
  const std::unique_ptr<Storage> memory = NewMemoryStorage();
  const std::unique_ptr<Studies> studies = Studies::Create(*memory, clock);
  const auto create = [&](const std::string& name) {
    StudySpec spec = OneAtATime();
    spec.name = name;
    return studies->CreateStudy(spec, {.actor = "test", .request_id = ""})->id;
  };
  const StudyId troubled = create("troubled");
  const StudyId other = create("other");
  FakeLauncher cluster(world);
  RefusingLauncher launcher(cluster, troubled);
  EngineOptions options;
  options.metrics = [&world](const StudySpec& spec, const Trial&, const GangProgram& gang)
      -> absl::StatusOr<std::unique_ptr<MetricReader>> {
    return NewFakeReader(world, gang.id, spec.objectives.front().metric);
  };
  const auto engine = Engine::Create(*studies, launcher, clock, options);
  const absl::Time began = clock.Now();
  for (int turn = 0; turn < 40; ++turn) {
    ASSERT_THAT(engine->Step(), IsOk());
    world.Turn();
    clock.Advance(absl::Milliseconds(500));
  }
  EXPECT_EQ(studies->GetStudy(other)->completed, kTrials);
  EXPECT_EQ(studies->GetStudy(troubled)->completed, 0);
  ASSERT_EQ(engine->troubles().size(), 1u);
  const StudyTrouble trouble = engine->troubles().front();
  EXPECT_EQ(trouble.study, troubled);
  EXPECT_EQ(trouble.name, "troubled");
  EXPECT_THAT(trouble.error, StatusIs(absl::StatusCode::kResourceExhausted, "the host is ill"));
  EXPECT_EQ(trouble.since, began);
  EXPECT_GT(trouble.next_try, clock.Now() - absl::Seconds(1));
  EXPECT_LE(launcher.refused(), 12) << "it rests between its tries";

  launcher.Mend();
  for (int turn = 0; turn < 40; ++turn) {
    ASSERT_THAT(engine->Step(), IsOk());
    world.Turn();
    clock.Advance(absl::Milliseconds(500));
  }
  EXPECT_EQ(studies->GetStudy(troubled)->completed, kTrials);
  EXPECT_TRUE(engine->troubles().empty());
}

}  // namespace
}  // namespace vernier::testing
