// Which studies are in memory, and that nobody sees a difference.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class MemoryTest : public StudyFixture {
 protected:
  // A study of three trials: two that completed, with a curve, and one that failed. It has spent its budget.
  Study Finished(const std::string& name = "digits") {
    StudySpec spec = ClientSpec(name);
    spec.budget.trials = 3;
    const Study study = Create(spec);
    for (const double accuracy : {0.5, 0.75}) {
      const Trial trial = SuggestOne(study.id);
      for (int step = 1; step <= 9; ++step)
        EXPECT_THAT(Report(study.id, trial, step, step / 10.0), IsOk());
      EXPECT_THAT(Complete(study.id, trial, accuracy), IsOk());
    }
    const Trial last = SuggestOne(study.id);
    EXPECT_THAT(studies_->Fail({study.id, last.number},
                               FailureClass::kUserError,
                               "exit code 1",
                               TokenOf(last),
                               As("w1")),
                IsOk());
    EXPECT_TRUE(IsFinished(Get(study.id).state));
    return study;
  }
  void Wait(absl::Duration time) {
    clock_.Advance(time);
    EXPECT_THAT(studies_->Tick(), IsOk());
  }
};

// All that calls say of a study, as text and values that can be compared.
struct Seen {
  Study study;
  StudySpec definition;
  std::vector<Trial> trials;
  std::vector<Trial> one_by_one;
  std::vector<CurvePart> curves;

  static Seen Of(const Studies& studies, StudyId id) {
    Seen seen{.study = studies.GetStudy(id).value(),
              .definition = *studies.GetDefinition(id).value(),
              .trials = studies.ListTrials(id).value()};
    for (const Trial& trial : seen.trials) {
      const TrialId trial_id{id, trial.number};
      seen.one_by_one.push_back(studies.GetTrial(trial_id).value());
      for (const std::string metric : {"", "accuracy", "unknown"}) {
        seen.curves.push_back(studies.ReadCurve(trial_id, {.metric = metric}).value());
        seen.curves.push_back(
            studies.ReadCurve(trial_id, {.metric = metric, .max_points = 4}).value());
        seen.curves.push_back(
            studies.ReadCurve(trial_id, {.metric = metric, .offset = 2, .limit = 3}).value());
      }
    }
    return seen;
  }
};

void ExpectSame(const Seen& a, const Seen& b) {
  EXPECT_EQ(a.study, b.study);
  EXPECT_EQ(a.definition, b.definition);
  EXPECT_EQ(a.trials, b.trials);
  EXPECT_EQ(a.one_by_one, b.one_by_one);
  ASSERT_EQ(a.curves.size(), b.curves.size());
  for (std::size_t i = 0; i < a.curves.size(); ++i) {
    EXPECT_EQ(a.curves[i].total, b.curves[i].total) << i;
    EXPECT_EQ(a.curves[i].chosen, b.curves[i].chosen) << i;
    EXPECT_EQ(a.curves[i].measurements, b.curves[i].measurements) << i;
  }
}

TEST_F(MemoryTest, AFinishedStudyIsReadFromItsRowsAsFromItsLog) {
  const Study study = Finished();
  ASSERT_EQ(studies_->CountInMemory(), 1u);
  const Seen folded = Seen::Of(*studies_, study.id);
  Restart();
  ExpectSame(Seen::Of(*studies_, study.id), folded);
  EXPECT_EQ(studies_->FindStudy("digits").value(), folded.study);
  EXPECT_FALSE(studies_->WaitForEvents(
      study.id, folded.study.last_event, absl::ZeroDuration(), std::stop_token()));
  EXPECT_TRUE(
      studies_->WaitForEvents(study.id, EventSeq(3), absl::ZeroDuration(), std::stop_token()));
}

TEST_F(MemoryTest, ToReadAFinishedStudyTakesNoFold) {
  const Study study = Finished();
  Restart();
  Seen::Of(*studies_, study.id);
  EXPECT_EQ(studies_->CountInMemory(), 0u);
  const absl::Status missing = studies_->GetTrial({study.id, TrialNumber(9)}).status();
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound, HasSubstr("'digits' has no trial 9")));
  EXPECT_EQ(GetReason(missing), Reason::kTrialNotFound);
}

TEST_F(MemoryTest, ADeletedTrialOfAFinishedStudyIsNotFound) {
  const Study study = Finished();
  ASSERT_THAT(studies_->DeleteTrial({study.id, TrialNumber(2)}, As("user")), IsOk());
  Restart();
  EXPECT_THAT(studies_->GetTrial({study.id, TrialNumber(2)}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(studies_->ListTrials(study.id)->size(), 2u);
}

TEST_F(MemoryTest, FinishedStudiesLeaveMemoryAndComeBackForAChange) {
  const Study study = Finished();
  Wait(absl::Seconds(59));
  EXPECT_EQ(studies_->CountInMemory(), 1u);
  Wait(absl::Seconds(1));
  EXPECT_EQ(studies_->CountInMemory(), 0u);
  ASSERT_THAT(studies_->Amend(study.id, {.trials = 5}, As("user")), IsOk());
  EXPECT_EQ(studies_->CountInMemory(), 1u);
  EXPECT_EQ(SuggestOne(study.id).number, TrialNumber(4));
  EXPECT_THAT(studies_->Tick().value(), ElementsAre(study.id));
}

TEST_F(MemoryTest, AnIdleStudyLeavesMemoryAndGoesOnWhereItWas) {
  const Study study = Create(ClientSpec());
  ASSERT_THAT(Complete(study.id, SuggestOne(study.id), 0.5), IsOk());
  const Seen before = Seen::Of(*studies_, study.id);
  Wait(absl::Minutes(9));
  EXPECT_EQ(studies_->CountInMemory(), 1u);
  Wait(absl::Minutes(1));
  EXPECT_EQ(studies_->CountInMemory(), 0u);
  ExpectSame(Seen::Of(*studies_, study.id), before);
  EXPECT_THAT(studies_->Tick().value(), ElementsAre(study.id));
  EXPECT_EQ(studies_->CountInMemory(), 0u);
  EXPECT_EQ(SuggestOne(study.id).number, TrialNumber(2));
  EXPECT_EQ(studies_->CountInMemory(), 1u);
}

TEST_F(MemoryTest, AReleasedStudyThatIsUsedAgainLosesItsLeasesInTime) {
  const Study study = Create(ClientSpec());
  ASSERT_THAT(Complete(study.id, SuggestOne(study.id), 0.5), IsOk());
  Wait(absl::Minutes(10));
  ASSERT_EQ(studies_->CountInMemory(), 0u);
  const Trial trial = SuggestOne(study.id);
  Wait(study.spec.lease.ttl + absl::Seconds(1));
  EXPECT_EQ(Get(study.id, trial.number).state, TrialState::kRequested);
}

TEST_F(MemoryTest, AStudyWithALeaseStays) {
  StudySpec spec = ClientSpec();
  spec.lease.ttl = absl::Hours(1);
  const Study study = Create(spec);
  SuggestOne(study.id);
  Wait(absl::Minutes(30));
  EXPECT_EQ(studies_->CountInMemory(), 1u);
}

TEST_F(MemoryTest, AStudyWhoseTimeRunsOutStaysUntilItHas) {
  StudySpec spec = ClientSpec();
  spec.budget.time = absl::Hours(1);
  const Study study = Create(spec);
  ASSERT_THAT(Complete(study.id, SuggestOne(study.id), 0.5), IsOk());
  Wait(absl::Minutes(30));
  EXPECT_EQ(studies_->CountInMemory(), 1u);
  Wait(absl::Minutes(31));
  EXPECT_EQ(Get(study.id).state, StudyState::kCompleted);
}

TEST_F(MemoryTest, AStudyThatIsNotInMemoryIsDeletedWithoutItsLog) {
  const Study study = Finished();
  const Study open = Create(ClientSpec("open"));
  SuggestOne(open.id);
  Restart();
  EXPECT_THAT(studies_->Delete("open", false, As("user")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("1 trial")));
  EXPECT_THAT(studies_->Delete("open", true, As("user")), IsOk());
  EXPECT_THAT(studies_->Delete("digits", false, As("user")), IsOk());
  EXPECT_EQ(studies_->CountInMemory(), 0u);
  EXPECT_THAT(studies_->GetStudy(study.id), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(studies_->ListTrials(study.id), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(MemoryTest, OfManyStudiesThoseUsedLastStay) {
  constexpr std::size_t kMany = 520;
  std::vector<StudyId> ids;
  for (std::size_t i = 0; i < kMany; ++i) {
    ids.push_back(Create(ClientSpec("s" + std::to_string(i))).id);
    ASSERT_THAT(Complete(ids.back(), SuggestOne(ids.back()), 0.5), IsOk());
    clock_.Advance(absl::Milliseconds(1));
  }
  EXPECT_EQ(studies_->CountInMemory(), kMany);
  Wait(absl::Minutes(2));
  EXPECT_EQ(studies_->CountInMemory(), 500u);
  EXPECT_EQ(studies_->Tick()->size(), kMany);
  SuggestOne(ids.back());
  EXPECT_EQ(studies_->CountInMemory(), 500u);
  SuggestOne(ids.front());
  EXPECT_EQ(studies_->CountInMemory(), 501u);
}

}  // namespace
}  // namespace vernier::study
