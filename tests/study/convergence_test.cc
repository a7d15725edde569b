#include "src/study/replay.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using testing::AskedFor;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

// An algorithm whose suggestions are expected to improve by what the test says.
class ConvergenceTest : public StudyFixture {
 protected:
  void SetUp() override {
    UseScript(
        [this](const AskedFor& asked, Rng, const std::stop_token&) -> absl::StatusOr<Suggestions> {
          Suggestions suggestions;
          for (std::size_t i = 0; i < asked.count; ++i) {
            const double x = 1e-3 * static_cast<double>(++made_);
            suggestions.points.push_back(
                {.point = {{"x", x}}, .origin = "model", .expected_improvement = expected_});
          }
          return suggestions;
        });
  }
  static StudySpec Spec(bool stop, std::optional<std::int64_t> trials) {
    StudySpec spec = ClientSpec();
    spec.budget.trials = trials;
    spec.convergence = {.tolerance = 0.01, .stop = stop};
    return spec;
  }
  // A trial that is expected to improve by so much, and completes.
  void Try(StudyId id, std::optional<double> expected) {
    expected_ = expected;
    ASSERT_THAT(Complete(id, SuggestOne(id), 0.5), IsOk());
  }

  std::optional<double> expected_;
  int made_ = 0;
};

TEST_F(ConvergenceTest, IsReachedAfterFiveTrialsInARowThatWereExpectedToGainTooLittle) {
  const StudyId id = Create(Spec(false, 20)).id;
  for (int i = 0; i < 4; ++i) Try(id, 0.009);
  Try(id, 0.01);  // Not less than the tolerance: from the start.
  for (int i = 0; i < 4; ++i) Try(id, 0.0);
  EXPECT_EQ(Get(id).converged, std::nullopt);
  Try(id, std::nullopt);  // Says nothing of what is left to gain.
  EXPECT_EQ(Get(id).converged, std::nullopt);
  Try(id, 0.009);
  EXPECT_EQ(Get(id).converged, TrialNumber(11));
  Try(id, 0.001);
  EXPECT_EQ(Get(id).converged, TrialNumber(11));
  Restart();
  EXPECT_EQ(Get(id).converged, TrialNumber(11));
  EXPECT_EQ(storage_.GetStudy(id)->converged, TrialNumber(11));
  Try(id, 0.02);
  EXPECT_EQ(Get(id).converged, std::nullopt);
  EXPECT_EQ(Get(id).state, StudyState::kActive);
}

TEST_F(ConvergenceTest, EndsTheStudyIfThatIsWhatItSays) {
  const StudyId id = Create(Spec(true, 20)).id;
  for (int i = 0; i < 4; ++i) Try(id, 0.0);
  expected_ = 0.0;
  const Trial last = SuggestOne(id);
  EXPECT_EQ(Get(id).state, StudyState::kActive);  // Until what runs has ended.
  EXPECT_THAT(studies_->Suggest(id, 1, "w2", As("w2"), {}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("converged at trial 5")));
  EXPECT_THAT(studies_->AddTrial(id, {.point = {{"x", 0.5}}}, As("ann")),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("converged at trial 5")));
  ASSERT_THAT(Complete(id, last, 0.5), IsOk());
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
  EXPECT_EQ(
      Get(id).reason,
      "converged at trial 5: a further one was expected to improve accuracy by less than 0.01; "
      "15 of 20 trials saved");
}

TEST_F(ConvergenceTest, NeedsAValidTrial) {
  StudySpec spec = Spec(true, 20);
  spec.outcome_constraints = {"latency <= 3"};
  const StudyId id = Create(spec).id;
  for (int i = 0; i < 7; ++i) Try(id, 0.0);  // Without a latency.
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  const Trial valid = SuggestOne(id);
  ASSERT_THAT(studies_->Complete({id, valid.number},
                                 {.metrics = {{"accuracy", 0.5}, {"latency", 2}}},
                                 TokenOf(valid),
                                 As(valid.lease->holder)),
              IsOk());
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
}

TEST_F(ConvergenceTest, NeedsNoBudget) {
  const StudyId id = Create(Spec(true, std::nullopt)).id;
  for (int i = 0; i < 5; ++i) Try(id, 0.0);
  EXPECT_EQ(
      Get(id).reason,
      "converged at trial 5: a further one was expected to improve accuracy by less than 0.01");
}

TEST_F(ConvergenceTest, IsRefusedWhereNobodyCanTell) {
  algorithms_ = AlgorithmCatalogue::BuiltIn();
  Restart();
  EXPECT_THAT(
      studies_->CreateStudy(Spec(true, 20), As("test")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "convergence: algorithm 'random' does not tell what is left to gain, gp does"));
  StudySpec several = Spec(true, 20);
  several.algorithm.name = "gp";
  several.objectives.push_back({.metric = "loss", .goal = Goal::kMinimize});
  EXPECT_THAT(
      studies_->CreateStudy(several, As("test")),
      StatusIs(absl::StatusCode::kInvalidArgument, "convergence: needs a single objective, got 2"));
}

// The real algorithm, on something that it soon knows.
TEST_F(ConvergenceTest, SavesTrialsOfASimpleStudyAndReplays) {
  algorithms_ = AlgorithmCatalogue::BuiltIn();
  Restart();
  StudySpec spec = Spec(true, 60);
  spec.algorithm.name = "gp";
  spec.convergence->tolerance = 1e-4;
  const StudyId id = Create(spec).id;
  while (Get(id).state == StudyState::kActive) {
    const Trial trial = SuggestOne(id);
    const double x = std::get<double>(trial.point.at("x"));
    ASSERT_THAT(Complete(id, trial, -(x - 0.3) * (x - 0.3)), IsOk());
  }
  const Study study = Get(id);
  EXPECT_EQ(study.state, StudyState::kCompleted);
  EXPECT_LT(study.trials, 30);
  EXPECT_GT(Get(id, *study.best).final_metrics.at("accuracy"), -1e-3);
  const ReplayReport report = studies_->Replay(id).value();
  EXPECT_EQ(report.verified, study.trials);
}

}  // namespace
}  // namespace vernier::study
