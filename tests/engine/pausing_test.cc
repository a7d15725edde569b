// Trials that a stopping rule pauses, and that go on later in another attempt.
#include <array>
#include <map>

#include "tests/engine/engine_fixture.h"
#include "vernier/study_log.h"

namespace vernier::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kLength = 9;
// By trial. The first ones wait at the first rung until others show how good they are.
constexpr std::array kQualities = {8, 9, 7, 3, 6, 5, 2, 4, 1};
constexpr TrialNumber kBest(2);

// Nine reports make a whole trial; a program goes on after those of its earlier attempts. Even a trial that was told to stop
// reports no step twice.
class PausingTest : public EngineTest {
 protected:
  PausingTest() {
    world_.script = [this](const GangProgram& gang) {
      std::int64_t before = 0;
      for (const auto& [id, job] : world_.jobs) {
        if (id.trial == gang.id.trial && id != gang.id) {
          before += static_cast<std::int64_t>(job.reported);
        }
      }
      const std::int64_t number = gang.id.trial.number.value();
      const double value = 0.1 * static_cast<double>(kQualities[(number - 1) % 9]);
      return Script{
          .values = std::vector<double>(static_cast<std::size_t>(kLength - before), value),
          .message = "",
          .first_step = before + 1};
    };
  }

  static StudySpec Promotion(std::int64_t trials, std::int32_t parallel) {
    StudySpec spec = AnySpec(trials, parallel);
    spec.stopping = {.name = "asha",
                     .options = {{"type", std::string("promotion")},
                                 {"reduction_factor", std::int64_t{3}},
                                 {"min_resource", std::int64_t{1}},
                                 {"max_resource", kLength}}};
    spec.job->pausable = true;
    return spec;
  }

  void ExpectVerified(StudyId id) {
    const auto report = process_->studies->Replay(id);
    ASSERT_THAT(report, IsOk());
    for (const ReplayReport::Line& line : report->problems) ADD_FAILURE() << line.detail;
    EXPECT_GT(report->stops, 0);
  }

  // Whatever became of the processes meanwhile: what one study of nine trials must have come to.
  void ExpectHalved(const Study& ended) {
    EXPECT_EQ(ended.state, StudyState::kCompleted);
    EXPECT_EQ(ended.completed, 9);
    EXPECT_EQ(ended.open, 0);
    EXPECT_EQ(ended.best, kBest);
    std::map<std::int64_t, int> lengths;
    for (const Trial& trial : Trials(ended.id)) {
      EXPECT_EQ(trial.state, TrialState::kCompleted) << trial.number.value();
      EXPECT_EQ(trial.stop.has_value(), trial.measurements < kLength) << trial.number.value();
      EXPECT_GE(trial.measurements, 1);
      ++lengths[trial.measurements];
      for (std::size_t i = 0; i + 1 < trial.attempts.size(); ++i) {
        EXPECT_TRUE(IsEnded(trial.attempts[i].state));
      }
    }
    EXPECT_EQ(Trials(ended.id)[1].measurements, kLength);
    EXPECT_GE(lengths[1], 4) << "most trials stay at the first rung";
    EXPECT_LE(lengths[kLength], 3);
    ExpectVerified(ended.id);
  }
};

TEST_F(PausingTest, TheBestOfEachRungGoOnInFurtherAttempts) {
  const Study study = Create(Promotion(/*trials=*/9, /*parallel=*/2));
  const Study ended = RunToEnd(study.id);
  ExpectHalved(ended);
  std::int64_t resumed = 0;
  for (const Trial& trial : Trials(study.id)) resumed += std::ssize(trial.attempts) - 1;
  EXPECT_GE(resumed, 2);
  EXPECT_LE(world_.most_used(), 4);
}

TEST_F(PausingTest, APausedTrialHoldsNothingAndShowsItsResult) {
  const Study study = Create(Promotion(/*trials=*/9, /*parallel=*/1));
  for (int turn = 0; turn < 100; ++turn) {
    if (Trials(study.id).size() > 1) break;
    StepAndTurn(1);
  }
  const Trial paused = Trials(study.id)[0];
  EXPECT_EQ(paused.state, TrialState::kPaused);
  EXPECT_EQ(paused.final_metrics.at("accuracy"), 0.8);
  EXPECT_EQ(paused.attempts.back().state, AttemptState::kStopped);
  ASSERT_TRUE(paused.stop.has_value());
  EXPECT_THAT(paused.stop->explanation, HasSubstr("rank 1 of 1"));
  EXPECT_EQ(process_->studies->GetStudy(study.id)->open, 1);  // The other one.
  EXPECT_EQ(process_->studies->GetStudy(study.id)->completed, 0);
}

TEST_F(PausingTest, AUserEndsAPausedTrialAndItKeepsItsResult) {
  const Study study = Create(Promotion(/*trials=*/9, /*parallel=*/1));
  for (int turn = 0; turn < 100 && Trials(study.id).size() < 2; ++turn) StepAndTurn(1);
  const auto stopped =
      process_->studies->StopTrial({study.id, TrialNumber(1)}, "enough", {.actor = "test"});
  ASSERT_THAT(stopped, IsOk());
  EXPECT_EQ(stopped->state, TrialState::kCompleted);
  EXPECT_EQ(stopped->final_metrics.at("accuracy"), 0.8);
  EXPECT_EQ(RunToEnd(study.id).completed, 9);
  ExpectVerified(study.id);
}

TEST_F(PausingTest, AStudyThatIsStoppedEndsItsPausedTrials) {
  const Study study = Create(Promotion(/*trials=*/9, /*parallel=*/1));
  for (int turn = 0; turn < 100 && Trials(study.id).size() < 3; ++turn) StepAndTurn(1);
  ASSERT_THAT(process_->studies->Stop(study.id, "", {.actor = "test"}), IsOk());
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.state, StudyState::kCancelled);
  EXPECT_GE(ended.completed, 1);
  for (const Trial& trial : Trials(study.id)) EXPECT_TRUE(IsFinished(trial.state));
}

TEST_F(PausingTest, WithoutARuleAllGoOn) {
  const Study study = Create(Promotion(/*trials=*/4, /*parallel=*/1));
  for (int turn = 0; turn < 100 && Trials(study.id).size() < 3; ++turn) StepAndTurn(1);
  StudySpec spec = study.spec;
  spec.stopping = {.name = "none", .options = {}};
  ASSERT_THAT(process_->studies->Amend(study.id, {.definition = spec}, {.actor = "test"}), IsOk());
  EXPECT_EQ(RunToEnd(study.id).completed, 4);
  for (const Trial& trial : Trials(study.id)) {
    EXPECT_EQ(trial.measurements, kLength) << trial.number.value();
    EXPECT_FALSE(trial.stop.has_value());
  }
}

TEST_F(PausingTest, IsOnlyForJobsThatCanGoOn) {
  StudySpec spec = Promotion(9, 1);
  spec.job->pausable = false;
  EXPECT_THAT(process_->studies->CreateStudy(spec, {.actor = "test"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("needs trials that can be paused, and job.pausable is not true")));
}

TEST_F(PausingTest, TheTrialsTimeLimitDoesNotRunWhileItIsPaused) {
  StudySpec spec = Promotion(/*trials=*/9, /*parallel=*/1);
  spec.job->trial_limit = absl::Seconds(60);  // Of some 200 that the study takes.
  const Study study = Create(spec);
  ExpectHalved(RunToEnd(study.id));
}

TEST_F(PausingTest, OtherRulesPauseInsteadOfEnding) {
  StudySpec spec = Promotion(/*trials=*/9, /*parallel=*/1);
  spec.stopping = {.name = "median", .options = {{"min_trials", std::int64_t{2}}}};
  const Study study = Create(spec);
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.completed, 9);
  EXPECT_EQ(ended.best, kBest);
  ExpectVerified(study.id);
}

TEST_F(PausingTest, AProcessThatDiesAnywhereLosesNothing) {
  int deaths = 0;
  for (int number = 0;; ++number) {
    Study study;
    const bool died = DieAtWrite(number, Promotion(/*trials=*/9, /*parallel=*/2), study);
    const Study ended = RunToEnd(study.id);
    ExpectHalved(ended);
    if (!died) break;
    ++deaths;
    if (HasFailure()) {
      ADD_FAILURE() << "after a death at write " << number;
      break;
    }
  }
  EXPECT_GT(deaths, 50);
}

}  // namespace
}  // namespace vernier::testing
