// Trials that were tried elsewhere and are added together, with their curves and ends.
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/study/study_fixture.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

class AddedTrialsTest : public StudyFixture {
 protected:
  static TrialAddition At(double x) { return {.point = {{"x", x}}}; }
  static TrialAddition Completed(double x, double accuracy) {
    TrialAddition addition = At(x);
    addition.last = Measurement{.metrics = {{"accuracy", accuracy}}};
    return addition;
  }
};

TEST_F(AddedTrialsTest, EndAsTheyEndedElsewhereInOneChange) {
  const StudyId id = Create(ClientSpec()).id;
  TrialAddition curve = Completed(0.1, 0.9);
  curve.measurements = {Measured(1, 0.5), Measured(2, 0.9)};
  curve.last->step = 2;
  TrialAddition pruned = Completed(0.2, 0.3);
  pruned.stopped = "pruned";
  TrialAddition nothing = At(0.3);
  nothing.stopped = "pruned at once";
  TrialAddition failed = At(0.4);
  failed.failed = TrialFailure{.failure = FailureClass::kOutOfMemory, .message = "no memory"};
  TrialAddition infeasible = At(0.5);
  infeasible.infeasible = "too wide";
  TrialAddition diverged = Completed(0.6, std::numeric_limits<double>::quiet_NaN());

  const auto added = studies_->AddTrials(
      id, {curve, pruned, nothing, failed, infeasible, diverged, At(0.7)}, As("ann"));
  ASSERT_THAT(added, IsOk());
  ASSERT_EQ(added->size(), 7U);
  const std::vector<Trial>& trials = *added;
  EXPECT_EQ(trials[0].state, TrialState::kCompleted);
  EXPECT_EQ(trials[0].measurements, 2);
  EXPECT_EQ(trials[0].final_step, 2);
  EXPECT_EQ(trials[1].state, TrialState::kCompleted);
  ASSERT_TRUE(trials[1].stop.has_value());
  EXPECT_EQ(trials[1].stop->explanation, "pruned");
  EXPECT_EQ(trials[2].state, TrialState::kCancelled);
  EXPECT_EQ(trials[3].state, TrialState::kFailed);
  EXPECT_EQ(trials[3].failure, FailureClass::kOutOfMemory);
  EXPECT_EQ(trials[3].message, "no memory");
  EXPECT_EQ(trials[4].state, TrialState::kInfeasible);
  EXPECT_EQ(trials[5].failure, FailureClass::kDiverged);
  EXPECT_EQ(trials[6].state, TrialState::kRequested);
  EXPECT_EQ(Get(id).best, TrialNumber(1));

  Restart();  // What is stored says the same.
  for (const Trial& trial : trials) EXPECT_EQ(Get(id, trial.number), trial);
  EXPECT_EQ(SuggestOne(id).number, TrialNumber(7));
  EXPECT_TRUE(studies_->Replay(id)->problems.empty());
}

TEST_F(AddedTrialsTest, AreAllRefusedForOneOfThem) {
  const StudyId id = Create(ClientSpec()).id;
  const EventSeq before = Get(id).last_event;
  EXPECT_THAT(studies_->AddTrials(id, {Completed(0.1, 1), Completed(1.5, 1)}, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("trials[1].point.x: ")));
  TrialAddition without = At(0.5);
  without.last = Measurement{.metrics = {{"loss", 1}}};
  EXPECT_THAT(studies_->AddTrials(id, {without}, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "trials[0].final_metrics: must hold the objective 'accuracy'"));
  TrialAddition twice = Completed(0.1, 1);
  twice.failed = TrialFailure();
  EXPECT_THAT(studies_->AddTrials(id, {twice}, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "trials[0].failed: must be the only end of its trial"));
  EXPECT_THAT(studies_->AddTrials(id, {}, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, "trials: must not be empty"));
  TrialAddition empty = Completed(0.1, 1);
  empty.measurements = {Measurement()};
  EXPECT_THAT(studies_->AddTrials(id, {empty}, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "trials[0].measurements[0].metrics: must not be empty"));
  EXPECT_EQ(Get(id).last_event, before);
  EXPECT_EQ(Get(id).trials, 0);
}

TEST_F(AddedTrialsTest, MustFitTheBudget) {
  StudySpec spec = ClientSpec();
  spec.budget.trials = 2;
  const StudyId id = Create(spec).id;
  const auto refused =
      studies_->AddTrials(id, {Completed(0.1, 1), Completed(0.2, 1), Completed(0.3, 1)}, As("ann"));
  EXPECT_EQ(GetReason(refused.status()), Reason::kBudgetSpent);
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "study 'digits': its budget has room for 2 more trials, got 3"));
  ASSERT_THAT(studies_->AddTrials(id, {Completed(0.1, 1), Completed(0.2, 1)}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
}

TEST_F(AddedTrialsTest, MayHaveLongerCurvesThanAReportAndABoundTogether) {
  const StudyId id = Create(ClientSpec()).id;
  TrialAddition addition = Completed(0.1, 0.5);
  for (int step = 1; step <= 5000; ++step) addition.measurements.push_back(Measured(step, 0.5));
  ASSERT_THAT(studies_->AddTrials(id, {addition}, As("ann")), IsOk());
  EXPECT_THAT(studies_->AddTrials(id, std::vector<TrialAddition>(41, addition), As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "trials: must hold at most 200000 values in their measurements, got 205000; "
                       "add them in several calls"));
}

TEST_F(AddedTrialsTest, OfARepeatedRequestAreTheFirstOnes) {
  const StudyId id = Create(ClientSpec()).id;
  const std::vector<TrialAddition> additions = {Completed(0.1, 1), At(0.2)};
  const auto first = studies_->AddTrials(id, additions, As("ann", "r"));
  ASSERT_THAT(first, IsOk());
  Restart();
  EXPECT_EQ(*studies_->AddTrials(id, additions, As("ann", "r")), *first);
  EXPECT_EQ(GetReason(studies_->AddTrials(id, {At(0.1)}, As("ann", "r")).status()),
            Reason::kRequestReused);
  EXPECT_EQ(Get(id).trials, 2);
}

}  // namespace
}  // namespace vernier::study
