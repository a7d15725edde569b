#include <thread>

#include "tests/study/random_workload.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

using StoreFailureTest = StudyFixture;

TEST_F(StoreFailureTest, ARefusedCommitLeavesNoHalfChangeAndTheStudyUsable) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const Study before = Get(study.id);
  storage_.FailCommits(1, absl::ResourceExhaustedError("the disk is full"));
  EXPECT_THAT(Complete(study.id, trial, 0.5),
              StatusIs(absl::StatusCode::kResourceExhausted, "the disk is full"));
  EXPECT_EQ(Get(study.id), before);
  EXPECT_EQ(Get(study.id, trial.number), trial);
  EXPECT_THAT(Complete(study.id, trial, 0.5), IsOk());
  EXPECT_EQ(Get(study.id).completed, 1);
}

TEST_F(StoreFailureTest, ASuggestionThatCouldNotBeStoredKeepsItsNumberAndPoint) {
  const Study reference = Create(ClientSpec("reference"));
  const Study study = Create(ClientSpec("study"));
  storage_.FailCommits(1, absl::UnavailableError("disk error"));
  EXPECT_THAT(studies_->Ask(study.id, 1, As("t"), {}), StatusIs(absl::StatusCode::kUnavailable));
  const auto again = studies_->Ask(study.id, 1, As("t"), {});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->front().number, TrialNumber(1));
  EXPECT_EQ(again->front().point, studies_->Ask(reference.id, 1, As("t"), {})->front().point);
}

TEST_F(StoreFailureTest, ChangesBehindARefusedOneAreRefusedAndNoneIsLost) {
  const Study study = Create(ClientSpec());
  std::vector<std::thread> threads;
  std::atomic<int> stored = 0;
  std::atomic<bool> only_known_errors = true;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        if (i % 10 == t) storage_.FailCommits(1, absl::UnavailableError("disk error"));
        const auto added = studies_->AddTrial(
            study.id,
            {.point = {{"x", 0.5}}, .last = Measurement{.metrics = {{"accuracy", 1}}}},
            As("t"));
        if (added.ok()) ++stored;
        if (!added.ok() && !absl::IsUnavailable(added.status())) only_known_errors = false;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  storage_.FailCommits(0, absl::OkStatus());
  EXPECT_TRUE(only_known_errors);
  EXPECT_LT(stored, 200);
  EXPECT_EQ(Get(study.id).completed, stored);
  Restart();
  EXPECT_EQ(Get(study.id).completed, stored);
}

TEST_F(StoreFailureTest, CreationAndDeletionThatFailChangeNothing) {
  storage_.FailCommits(1, absl::UnavailableError("disk error"));
  EXPECT_THAT(studies_->CreateStudy(ClientSpec(), As("t", "r1")),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(studies_->ListStudies()->empty());
  const Study study = studies_->CreateStudy(ClientSpec(), As("t", "r1")).value();
  storage_.FailCommits(1, absl::UnavailableError("disk error"));
  EXPECT_THAT(studies_->Delete("digits", false, As("t")), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(SuggestOne(study.id).number, TrialNumber(1));
}

TEST_F(StoreFailureTest, AStoreThatFailsNowAndThenNeverBreaksAStudy) {
  const Study study = Create(ClientSpec());
  RandomWorkload workload(*studies_, clock_, study.id, 4711);
  for (int i = 0; i < 600; ++i) {
    if (i % 7 == 0) storage_.FailCommits(1, absl::UnavailableError("disk error"));
    const absl::Status status = workload.Step();
    EXPECT_FALSE(absl::IsInternal(status) || absl::IsDataLoss(status)) << status;
  }
  storage_.FailCommits(0, absl::OkStatus());
  const auto report = studies_->Replay(study.id);
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->problems.empty());
  EXPECT_GT(report->verified, 20);
}

TEST_F(StoreFailureTest, ADamagedLogIsToldToWhoAsksAndDoesNotHoldUpTheTick) {
  const Study broken = Create(ClientSpec("broken"));
  const Study sound = Create(ClientSpec("sound"));
  // An event that no rule would have made, with rows to match.
  Commit commit{.study = broken.id, .expected = EventSeq(1), .header = broken};
  commit.events.push_back(
      {.seq = EventSeq(2), .time = clock_.Now(), .payload = LeaseExpired{.trial = TrialNumber(5)}});
  commit.header.last_event = EventSeq(2);
  ASSERT_THAT(memory_->Begin(std::move(commit))->Wait(), IsOk());
  Restart();
  EXPECT_THAT(studies_->GetStudy(broken.id),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("event 2")));
  const auto unfinished = studies_->Tick();
  ASSERT_THAT(unfinished, IsOk());
  ASSERT_EQ(unfinished->size(), 1);
  EXPECT_EQ(unfinished->front(), sound.id);
}

TEST_F(StoreFailureTest, AStudyThatCannotBeChangedDoesNotHoldUpTheTick) {
  const Study first = Create(ClientSpec("first"));
  const Study second = Create(ClientSpec("second"));
  const Trial of_first = SuggestOne(first.id);
  const Trial of_second = SuggestOne(second.id);
  clock_.Advance(absl::Hours(24));
  storage_.FailCommits(1, absl::UnavailableError("disk error"));
  EXPECT_EQ(studies_->Tick().value(), (std::vector<StudyId>{first.id, second.id}));
  EXPECT_EQ(Get(first.id, of_first.number).state, TrialState::kRunning);
  EXPECT_EQ(Get(second.id, of_second.number).state, TrialState::kRequested);
  EXPECT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(first.id, of_first.number).state, TrialState::kRequested);
  storage_.FailCommits(0, absl::OkStatus());
}

// Whoever listens hears of what is durable, of a new study, and of one that is gone; not of what was refused.
TEST_F(StoreFailureTest, ListenersHearOfWhatIsDurable) {
  std::vector<StudyId> heard;
  auto subscription = studies_->Subscribe([&](StudyId study) { heard.push_back(study); });
  const Study study = Create(ClientSpec());
  EXPECT_EQ(heard, std::vector<StudyId>{study.id});
  heard.clear();
  storage_.FailCommits(1, absl::UnavailableError("disk error"));
  EXPECT_THAT(studies_->Pause(study.id, As("ann")), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(heard.empty());
  EXPECT_THAT(studies_->Pause(study.id, As("ann")), IsOk());
  EXPECT_EQ(heard, std::vector<StudyId>{study.id});
  heard.clear();
  EXPECT_THAT(studies_->Delete(study.spec.name, /*force=*/true, As("ann")), IsOk());
  EXPECT_EQ(heard, std::vector<StudyId>{study.id});
  heard.clear();
  subscription.reset();
  Create(ClientSpec());
  EXPECT_TRUE(heard.empty());
}

}  // namespace
}  // namespace vernier::study
