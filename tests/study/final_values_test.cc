#include <cmath>

#include "tests/study/study_fixture.h"
#include "tests/support/extreme_values.h"

// Which value of its curve a trial counts with, and when it has none.
namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::vernier::testing::kInf;
using ::vernier::testing::kNan;

class FinalValuesTest : public StudyFixture {
 protected:
  // Reports the values at steps 1, 2, 3 … and completes without a value of its own.
  Trial Run(FinalValue final, std::int32_t count, const std::vector<double>& values) {
    StudySpec spec = ClientSpec();
    spec.objectives.front().final = final;
    spec.objectives.front().final_count = count;
    study_ = Create(spec);
    const Trial trial = SuggestOne(study_.id);
    std::int64_t step = 0;
    for (const double value : values) {
      EXPECT_THAT(Report(study_.id, trial, ++step, value), IsOk());
    }
    EXPECT_THAT(studies_->Complete({study_.id, trial.number}, {}, TokenOf(trial), As("w1")),
                IsOk());
    return Get(study_.id, trial.number);
  }

  Study study_;
};

TEST_F(FinalValuesTest, TheLastOneCountsUnlessSaidOtherwise) {
  const Trial trial = Run(FinalValue::kLast, 1, {0.5, 0.9, 0.7});
  EXPECT_EQ(trial.final_metrics.at("accuracy"), 0.7);
  EXPECT_EQ(trial.final_step, 3);
}

TEST_F(FinalValuesTest, TheBestOneCountsWithItsStep) {
  const Trial trial = Run(FinalValue::kBest, 1, {0.5, 0.9, 0.7});
  EXPECT_EQ(trial.final_metrics.at("accuracy"), 0.9);
  EXPECT_EQ(trial.final_step, 2);
}

TEST_F(FinalValuesTest, TheMeanOfTheLastOnesCounts) {
  EXPECT_EQ(Run(FinalValue::kMeanOfLast, 2, {0.1, 0.5, 0.75}).final_metrics.at("accuracy"), 0.625);
}

TEST_F(FinalValuesTest, TheMeanOfFewerThanAskedIsTheirs) {
  EXPECT_EQ(Run(FinalValue::kMeanOfLast, 9, {0.5, 0.75}).final_metrics.at("accuracy"), 0.625);
}

TEST_F(FinalValuesTest, AValueThatComesAgainForAStepTakesThePlaceOfTheFirst) {
  StudySpec spec = ClientSpec();
  spec.objectives.front().final = FinalValue::kMeanOfLast;
  spec.objectives.front().final_count = 2;
  const Study study = Create(spec);
  const Trial trial = SuggestOne(study.id);
  for (const auto& [step, value] : {std::pair(1, 0.5), {2, 0.1}, {2, 0.75}}) {
    ASSERT_THAT(Report(study.id, trial, step, value), IsOk());
  }
  ASSERT_THAT(studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("w1")), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).final_metrics.at("accuracy"), 0.625);
}

TEST_F(FinalValuesTest, ARestartFindsTheSameCurve) {
  StudySpec spec = ClientSpec();
  spec.objectives.front().final = FinalValue::kBest;
  const Study study = Create(spec);
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, trial, 1, 0.9), IsOk());
  Restart();
  ASSERT_THAT(Report(study.id, trial, 2, 0.5), IsOk());
  ASSERT_THAT(studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("w1")), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).final_metrics.at("accuracy"), 0.9);
}

TEST_F(FinalValuesTest, WhatTheClientGivesInTheEndCountsAsItIs) {
  StudySpec spec = ClientSpec();
  spec.objectives.front().final = FinalValue::kBest;
  const Study study = Create(spec);
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, trial, 1, 0.9), IsOk());
  ASSERT_THAT(Complete(study.id, trial, 0.5), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).final_metrics.at("accuracy"), 0.5);
}

// A curve that went wrong is no result, whichever of its values was to count.
TEST_F(FinalValuesTest, ATrialWhoseLastValueIsNotFiniteHasDiverged) {
  for (const FinalValue final : {FinalValue::kLast, FinalValue::kBest, FinalValue::kMeanOfLast}) {
    for (const double bad : {kNan, kInf, -kInf}) {
      const Trial trial = Run(final, 2, {0.5, 0.9, bad});
      EXPECT_EQ(trial.state, TrialState::kFailed);
      EXPECT_EQ(trial.failure, FailureClass::kDiverged);
      EXPECT_THAT(trial.message, HasSubstr("diverged: its last value of objective 'accuracy' is "));
      EXPECT_THAT(trial.message, HasSubstr("at step 3"));
      EXPECT_EQ(trial.measurements, 3);
      EXPECT_FALSE(Get(study_.id).best.has_value());
      ASSERT_THAT(studies_->Delete(study_.spec.name, true, As("ann")), IsOk());
    }
  }
}

TEST_F(FinalValuesTest, AValueThatBecomesANumberAgainCounts) {
  EXPECT_EQ(Run(FinalValue::kLast, 1, {kNan, 0.9}).final_metrics.at("accuracy"), 0.9);
}

TEST_F(FinalValuesTest, ATrialThatWasToldToStopMayHaveDiverged) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, trial, 1, kNan), IsOk());
  ASSERT_THAT(studies_->StopTrial({study.id, trial.number}, "enough", As("ann")), IsOk());
  ASSERT_THAT(studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("w1")), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).failure, FailureClass::kDiverged);
}

TEST_F(FinalValuesTest, ATrialThatDivergesOnlyAfterItsStopKeepsItsLastFiniteValue) {
  for (const FinalValue final : {FinalValue::kLast, FinalValue::kBest, FinalValue::kMeanOfLast}) {
    for (const double bad : {kNan, kInf, -kInf}) {
      StudySpec spec = ClientSpec();
      spec.objectives.front().final = final;
      const Study study = Create(spec);
      const Trial trial = SuggestOne(study.id);
      ASSERT_THAT(Report(study.id, trial, 1, 0.5), IsOk());
      ASSERT_THAT(studies_->StopTrial({study.id, trial.number}, "enough", As("ann")), IsOk());
      ASSERT_THAT(Report(study.id, trial, 2, 0.75), IsOk());
      ASSERT_THAT(Report(study.id, trial, 3, bad), IsOk());
      ASSERT_THAT(studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("w1")),
                  IsOk());
      const Trial ended = Get(study.id, trial.number);
      EXPECT_EQ(ended.state, TrialState::kCompleted);
      EXPECT_EQ(ended.final_metrics.at("accuracy"), 0.75);
      EXPECT_EQ(ended.final_step, 2);
      ASSERT_THAT(studies_->Delete(study.spec.name, true, As("ann")), IsOk());
    }
  }
}

// Also when the study is read from a snapshot, which has the stop before it has the measurements.
TEST_F(FinalValuesTest, ARulesVerdictTellsWhichValuesCameBeforeTheStop) {
  for (const std::int64_t interval : {std::int64_t{1}, SnapshotInterval()}) {
    snapshot_interval_ = interval;
    StudySpec spec = ClientSpec();
    spec.stopping = {.name = "median",
                     .options = {{"min_trials", std::int64_t{1}}, {"warm_up", 0.0}}};
    const Study study = Create(spec);
    Restart();
    const Trial good = SuggestOne(study.id);
    ASSERT_THAT(Report(study.id, good, 1, 0.9), IsOk());
    ASSERT_THAT(Complete(study.id, good, 0.9), IsOk());
    const Trial poor = SuggestOne(study.id);
    const Trial diverged = SuggestOne(study.id, "w2");
    // The rule stops both at their first value.
    for (const auto& [trial, value] : {std::pair(poor, 0.5), {diverged, kNan}}) {
      ASSERT_THAT(Report(study.id, trial, 1, value), IsOk());
      ASSERT_EQ(Get(study.id, trial.number).state, TrialState::kStopping);
      ASSERT_THAT(Report(study.id, trial, 2, kNan), IsOk());
    }
    Restart();
    for (const Trial& trial : {poor, diverged}) {
      ASSERT_THAT(studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("client")),
                  IsOk());
    }
    EXPECT_EQ(Get(study.id, poor.number).state, TrialState::kCompleted);
    EXPECT_EQ(Get(study.id, poor.number).final_metrics.at("accuracy"), 0.5);
    EXPECT_EQ(Get(study.id, poor.number).final_step, 1);
    EXPECT_EQ(Get(study.id, diverged.number).failure, FailureClass::kDiverged);
    ASSERT_THAT(studies_->Delete(study.spec.name, true, As("ann")), IsOk());
  }
}

TEST_F(FinalValuesTest, ValuesThatAreNotFiniteAreCountedInARow) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  std::int64_t step = 0;
  for (const double value : {kNan, kInf, 0.5, kNan}) {
    ASSERT_THAT(Report(study.id, trial, ++step, value), IsOk());
    EXPECT_EQ(Get(study.id, trial.number).not_finite, step == 3 ? 0 : step == 4 ? 1 : step);
  }
}

}  // namespace
}  // namespace vernier::study
