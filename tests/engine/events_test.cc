// What an engine does not wait for, and what it does not look at.

#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/thread_pool.h"
#include "src/study/studies_impl.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/fake_cluster.h"
#include "tests/support/algorithms.h"
#include "tests/support/status_matchers.h"

namespace vernier::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Keeps work until it is told to run it.
class HeldExecutor final : public Executor {
 public:
  void Run(std::function<void()> work) override { held_.push_back(std::move(work)); }
  std::size_t held() const { return held_.size(); }
  // All but the first `kept`, and what these lead to.
  void RunAllBut(std::size_t kept) {
    while (held_.size() > kept) {
      const std::function<void()> work = std::move(held_[kept]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(kept));
      work();
    }
  }

 private:
  std::deque<std::function<void()>> held_;
};

// Proposes points of a grid of its own, or does what it is told instead.
class OddOptimizer final : public Optimizer {
 public:
  using Instead = std::function<absl::Status(const std::stop_token&)>;
  explicit OddOptimizer(Instead instead) : instead_(std::move(instead)) {}
  std::string_view name() const override { return "odd"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return "{}"; }
  absl::StatusOr<Suggestions> Suggest(const TrialLog::View&,
                                      std::span<const PendingPoint>,
                                      std::string_view,
                                      Rng,
                                      std::size_t,
                                      std::stop_token stop) const override {
    return instead_(stop);
  }

 private:
  const Instead instead_;
};

AlgorithmCatalogue Odd(const OddOptimizer::Instead& instead) {
  return testing::WithOptimizer(
      AlgorithmCatalogue::BuiltIn(),
      [instead](const Problem&, const Choice&) { return std::make_unique<OddOptimizer>(instead); });
}

// Tells when something has changed, and counts how often it is asked.
class TellingLauncher final : public FakeLauncher {
 public:
  using FakeLauncher::FakeLauncher;
  bool Watch(const std::function<void(const AttemptId&)>& changed) override {
    changed_ = changed;
    return true;
  }
  absl::StatusOr<GangStatus> Check(const AttemptId& id) override {
    ++checks_;
    return FakeLauncher::Check(id);
  }
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override {
    ++places_;
    return FakeLauncher::Place(gang);
  }
  absl::Status Release(const AttemptId& id) override {
    const absl::Status released = FakeLauncher::Release(id);
    for (const QueuedGang& gang : Queue()) changed_(gang.id);
    return released;
  }
  void Tell(const AttemptId& id) { changed_(id); }
  bool is_watched() const { return changed_ != nullptr; }
  int checks() const { return checks_; }
  int places() const { return places_; }

 private:
  std::function<void(const AttemptId&)> changed_;
  int checks_ = 0;
  int places_ = 0;
};

class EventsTest : public ::testing::Test {
 protected:
  Study Create(Studies& studies, StudySpec spec, const std::string& name) {
    spec.name = name;
    return studies.CreateStudy(spec, {.actor = "test", .request_id = ""}).value();
  }
  void Turn() {
    world_.Turn();
    clock_.Advance(absl::Seconds(1));
  }
  EngineOptions Options(Executor* executor = nullptr) {
    EngineOptions options;
    options.executor = executor;
    options.metrics = [this](const StudySpec& spec, const Trial&, const GangProgram& gang)
        -> absl::StatusOr<std::unique_ptr<MetricReader>> {
      return NewFakeReader(world_, gang.id, spec.objectives.front().metric);
    };
    return options;
  }

  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeWorld world_{/*slots=*/100};
  const std::unique_ptr<Storage> storage_ = NewMemoryStorage();
};

TEST_F(EventsTest, ASuggestionThatTakesLongHoldsUpItsOwnStudyOnly) {
  const auto studies = Studies::Create(*storage_, clock_);
  FakeLauncher launcher(world_);
  HeldExecutor executor;
  const auto engine = Engine::Create(*studies, launcher, clock_, Options(&executor));
  const StudyId slow = Create(*studies, AnySpec(3, 2), "slow").id;
  ASSERT_THAT(engine->Step(), IsOk());
  ASSERT_EQ(executor.held(), 1u);
  const StudyId other = Create(*studies, AnySpec(5, 2), "other").id;
  for (int turn = 0; turn < 100 && !IsFinished(studies->GetStudy(other)->state); ++turn) {
    ASSERT_THAT(engine->Step(), IsOk());
    executor.RunAllBut(1);
    Turn();
  }
  EXPECT_EQ(studies->GetStudy(other)->state, StudyState::kCompleted);
  EXPECT_THAT(*studies->ListTrials(slow), IsEmpty());
  executor.RunAllBut(0);
  for (int turn = 0; turn < 100 && !IsFinished(studies->GetStudy(slow)->state); ++turn) {
    ASSERT_THAT(engine->Step(), IsOk());
    executor.RunAllBut(0);
    Turn();
  }
  EXPECT_EQ(studies->GetStudy(slow)->completed, 3);
}

TEST_F(EventsTest, AnEngineThatEndsGivesUpTheSuggestionsThatAreComputed) {
  absl::Notification begun;
  study::StudiesImpl studies(*storage_, clock_, Odd([&](const std::stop_token& stop) {
    absl::Notification told;
    const std::stop_callback callback(stop, [&] { told.Notify(); });
    begun.Notify();
    told.WaitForNotification();
    return absl::CancelledError("given up");
  }));
  FakeLauncher launcher(world_);
  base::ThreadPool executor(1);
  auto engine = Engine::Create(studies, launcher, clock_, Options(&executor));
  const StudyId id = Create(studies, AnySpec(3, 2), "study").id;
  ASSERT_THAT(engine->Step(), IsOk());
  begun.WaitForNotification();
  engine.reset();
  EXPECT_EQ(studies.GetStudy(id)->state, StudyState::kActive);
}

TEST_F(EventsTest, AnAlgorithmThatThrowsEndsItsStudyAndSaysWhy) {
  study::StudiesImpl studies(*storage_, clock_, Odd([](const std::stop_token&) -> absl::Status {
    throw std::bad_alloc();
  }));
  FakeLauncher launcher(world_);
  const auto engine = Engine::Create(studies, launcher, clock_, Options());
  const StudyId id = Create(studies, AnySpec(3, 2), "study").id;
  for (int step = 0; step < 5; ++step) {
    ASSERT_THAT(engine->Step(), IsOk());
    Turn();
  }
  const Study study = studies.GetStudy(id).value();
  EXPECT_EQ(study.state, StudyState::kCancelled);
  EXPECT_THAT(study.reason, HasSubstr("algorithm 'odd' needs more memory than there is"));
}

// A refused study is asked again when something changed, not in every step.
TEST_F(EventsTest, ARefusalIsNotAskedForAgainUntilSomethingChanges) {
  const auto studies = Studies::Create(*storage_, clock_);
  FakeLauncher launcher(world_);
  HeldExecutor executor;
  EngineOptions options = Options(&executor);
  options.metrics = nullptr;
  const auto engine = Engine::Create(*studies, launcher, clock_, options);
  world_.script = [](const GangProgram&) { return Script{.values = {}, .hangs = 1000}; };
  Create(*studies, AnySpec(1, 3), "study");  // Room for three, a budget of one.
  for (int step = 0; step < 10; ++step) {
    ASSERT_THAT(engine->Step(), IsOk());
    executor.RunAllBut(0);
    Turn();
  }
  std::size_t asked = 0;
  for (int step = 0; step < 10; ++step) {
    ASSERT_THAT(engine->Step(), IsOk());
    asked += executor.held();
    executor.RunAllBut(0);
    Turn();
  }
  EXPECT_EQ(asked, 0u);
}

TEST_F(EventsTest, ALauncherThatTellsIsAskedOnlyAfterItDid) {
  const auto studies = Studies::Create(*storage_, clock_);
  TellingLauncher launcher(world_);
  EngineOptions options = Options();
  options.metrics = nullptr;
  auto engine = Engine::Create(*studies, launcher, clock_, options);
  ASSERT_TRUE(launcher.is_watched());
  world_.script = [](const GangProgram&) { return Script{.values = {}, .hangs = 1000}; };
  StudySpec spec = AnySpec(40, 40);
  const StudyId id = Create(*studies, spec, "study").id;
  for (int step = 0; step < 5; ++step) ASSERT_THAT(engine->Step(), IsOk());
  ASSERT_THAT(world_.jobs, SizeIs(40));
  world_.Turn();
  for (const auto& [attempt, job] : world_.jobs) launcher.Tell(attempt);
  for (int step = 0; step < 3; ++step) ASSERT_THAT(engine->Step(), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, studies->ListTrials(id));
  for (const Trial& trial : trials) EXPECT_EQ(trial.state, TrialState::kRunning);

  const int before = launcher.checks();
  for (int step = 0; step < 100; ++step) {
    ASSERT_OK_AND_ASSIGN(const absl::Duration pause, engine->Step());
    EXPECT_GT(pause, absl::ZeroDuration());
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_EQ(launcher.checks(), before);

  auto& [attempt, job] = *world_.jobs.begin();
  job.state = AttemptState::kFailed;
  job.script.failure = FailureClass::kUserError;
  launcher.Tell(attempt);
  ASSERT_THAT(engine->Step(), IsOk());
  EXPECT_EQ(studies->GetTrial(attempt.trial)->state, TrialState::kFailed);
  EXPECT_LE(launcher.checks(), before + 2);
  engine.reset();
  EXPECT_FALSE(launcher.is_watched());
}

// The answer to a report is older than what the log says of the trial by the time that it is looked at.
TEST_F(EventsTest, AStopThatFollowsAReportAtOnceIsCarriedOut) {
  const auto studies = Studies::Create(*storage_, clock_);
  FakeLauncher launcher(world_);
  HeldExecutor executor;
  const auto engine = Engine::Create(*studies, launcher, clock_, Options(&executor));
  world_.script = [](const GangProgram&) { return Script{.values = {0.5}, .hangs = 1000}; };
  const StudyId id = Create(*studies, AnySpec(1, 1), "study").id;
  for (int step = 0; step < 10 && world_.jobs.empty(); ++step) {
    ASSERT_THAT(engine->Step(), IsOk());
    executor.RunAllBut(0);
  }
  const TrialId trial{id, TrialNumber(1)};
  for (int step = 0; step < 10 && studies->GetTrial(trial)->measurements == 0; ++step) {
    Turn();
    ASSERT_THAT(engine->Step(), IsOk());
    executor.RunAllBut(0);
  }
  ASSERT_EQ(studies->GetTrial(trial)->measurements, 1);
  ASSERT_THAT(studies->StopTrial(trial, "enough", {.actor = "test", .request_id = ""}), IsOk());
  ASSERT_THAT(engine->Step(), IsOk());
  EXPECT_TRUE(world_.jobs.begin()->second.stop);
}

// To read a study of many trials takes seconds. What runs of others goes on meanwhile; what would take their room must not start.
TEST_F(EventsTest, AStudyThatIsReadAfterAStartHoldsUpNoTrialThatRuns) {
  world_.script = [](const GangProgram&) { return Script{.values = {0.5}, .hangs = 3}; };
  StudyId slow;
  StudyId other;
  {
    const auto studies = Studies::Create(*storage_, clock_);
    FakeLauncher launcher(world_);
    const auto engine = Engine::Create(*studies, launcher, clock_, Options());
    slow = Create(*studies, AnySpec(2, 1), "slow").id;
    other = Create(*studies, AnySpec(2, 1), "other").id;
    for (int step = 0; step < 3; ++step) ASSERT_THAT(engine->Step(), IsOk());
    ASSERT_THAT(world_.jobs, SizeIs(2));
  }
  const auto studies = Studies::Create(*storage_, clock_);
  FakeLauncher launcher(world_);
  HeldExecutor executor;
  const auto engine = Engine::Create(*studies, launcher, clock_, Options(&executor));
  ASSERT_THAT(engine->Step(), IsOk());
  EXPECT_EQ(executor.held(), 2u);
  for (int turn = 0; turn < 20; ++turn) {
    executor.RunAllBut(1);
    ASSERT_THAT(engine->Step(), IsOk());
    Turn();
  }
  EXPECT_EQ(studies->GetStudy(other)->completed, 1);
  EXPECT_THAT(*studies->ListTrials(other), SizeIs(1));
  for (int turn = 0; turn < 40; ++turn) {
    executor.RunAllBut(0);
    ASSERT_THAT(engine->Step(), IsOk());
    Turn();
  }
  EXPECT_EQ(studies->GetStudy(slow)->state, StudyState::kCompleted);
  EXPECT_EQ(studies->GetStudy(other)->state, StudyState::kCompleted);
}

// What waits for room is tried when the launcher says so, and so are trials that somebody stops.
TEST_F(EventsTest, WithALauncherThatTellsAStudyRunsToItsEnd) {
  const auto studies = Studies::Create(*storage_, clock_);
  FakeWorld small(/*slots=*/4);
  TellingLauncher launcher(small);
  const auto engine = Engine::Create(*studies, launcher, clock_, [&] {
    EngineOptions options;
    options.metrics = [&](const StudySpec&, const Trial&, const GangProgram& gang)
        -> absl::StatusOr<std::unique_ptr<MetricReader>> {
      return NewFakeReader(small, gang.id, "accuracy");
    };
    return options;
  }());
  const StudyId id = Create(*studies, AnySpec(20, 10), "study").id;
  for (int turn = 0; turn < 200 && !IsFinished(studies->GetStudy(id)->state); ++turn) {
    ASSERT_THAT(engine->Step(), IsOk());
    small.Turn();
    for (const auto& [attempt, job] : small.jobs) launcher.Tell(attempt);
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_EQ(studies->GetStudy(id)->completed, 20);
  EXPECT_EQ(small.most_used(), 4);
}

// Limits need nobody to tell of them.
TEST_F(EventsTest, ALimitIsNoticedWhenItsTimeComes) {
  const auto studies = Studies::Create(*storage_, clock_);
  TellingLauncher launcher(world_);
  EngineOptions options = Options();
  options.metrics = nullptr;
  const auto engine = Engine::Create(*studies, launcher, clock_, options);
  world_.script = [](const GangProgram&) { return Script{.values = {}, .hangs = 1000}; };
  StudySpec spec = AnySpec(1, 1);
  spec.job->trial_limit = absl::Seconds(30);
  const StudyId id = Create(*studies, spec, "study").id;
  for (int step = 0; step < 5; ++step) ASSERT_THAT(engine->Step(), IsOk());
  ASSERT_THAT(world_.jobs, SizeIs(1));
  world_.Turn();
  launcher.Tell(world_.jobs.begin()->first);
  for (int step = 0; step < 3; ++step) ASSERT_THAT(engine->Step(), IsOk());
  ASSERT_EQ((*studies->ListTrials(id))[0].state, TrialState::kRunning);
  clock_.Advance(absl::Seconds(29));
  ASSERT_THAT(engine->Step(), IsOk());
  EXPECT_FALSE(world_.jobs.begin()->second.stop);
  clock_.Advance(absl::Seconds(1));
  ASSERT_THAT(engine->Step(), IsOk());
  EXPECT_TRUE(world_.jobs.begin()->second.stop);
}

// Every event wakes who steps, but for those of studies that clients drive.
TEST_F(EventsTest, WakesForWhatMayMoveAStudyOfItsOwn) {
  const auto studies = Studies::Create(*storage_, clock_);
  FakeLauncher launcher(world_);
  int woken = 0;
  EngineOptions options = Options();
  options.wake = [&] { ++woken; };
  const auto engine = Engine::Create(*studies, launcher, clock_, options);
  StudySpec spec = AnySpec(3, 2);
  spec.job.reset();
  const StudyId clients = Create(*studies, spec, "clients").id;
  ASSERT_THAT(engine->Step(), IsOk());
  ASSERT_THAT(engine->Step(), IsOk());
  woken = 0;
  ASSERT_THAT(studies->Suggest(clients, 1, "me", {.actor = "me", .request_id = ""}, {}), IsOk());
  EXPECT_EQ(woken, 0);
  Create(*studies, AnySpec(3, 2), "own");
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace vernier::testing
