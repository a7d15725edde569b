// Changes that do not wait for the disk: whoever made them is told later.
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

// Gets one answer.
template <typename Answer>
class ToldOf {
 public:
  std::function<void(Answer)> Listener() {
    return [this](Answer answer) {
      answer_ = std::move(answer);
      told_.Notify();  // Which must not be called twice.
    };
  }
  bool IsTold() const { return told_.HasBeenNotified(); }
  const Answer& Await() {
    told_.WaitForNotification();
    return answer_;
  }

 private:
  Answer answer_;
  absl::Notification told_;
};
using Told = ToldOf<absl::StatusOr<Trial>>;

class AnsweredLaterTest : public StudyFixture {
 protected:
  void Add(StudyId id, double x, Told& told, const std::string& request_id = "") {
    studies_->AddTrial(id, {.point = {{"x", x}}}, As("ann", request_id), told.Listener());
  }
  void CompleteLater(StudyId id, const Trial& trial, double accuracy, Told& told) {
    studies_->End({id, trial.number},
                  {.last = {.metrics = {{"accuracy", accuracy}}}},
                  TokenOf(trial),
                  As(trial.lease->holder),
                  told.Listener());
  }
};

TEST_F(AnsweredLaterTest, OnceTheChangeIsDurable) {
  const Study study = Create(ClientSpec());
  const Trial good = SuggestOne(study.id, "w1");
  const Trial bad = SuggestOne(study.id, "w2");
  storage_.Hold(true);
  Told added;
  Told completed;
  Told infeasible;
  Add(study.id, 0.25, added);
  CompleteLater(study.id, good, 0.5, completed);
  studies_->End({study.id, bad.number},
                {.kind = TrialEnd::Kind::kInfeasible, .message = "NaN"},
                TokenOf(bad),
                As("w2"),
                infeasible.Listener());
  EXPECT_FALSE(added.IsTold() || completed.IsTold() || infeasible.IsTold());
  storage_.Hold(false);
  ASSERT_THAT(added.Await(), IsOk());
  ASSERT_THAT(completed.Await(), IsOk());
  ASSERT_THAT(infeasible.Await(), IsOk());
  EXPECT_EQ(added.Await()->point, (Point{{"x", 0.25}}));
  for (Told* told : {&added, &completed, &infeasible}) {
    EXPECT_EQ(*told->Await(), Get(study.id, told->Await()->number));
  }
  EXPECT_EQ(Get(study.id, good.number).state, TrialState::kCompleted);
  EXPECT_EQ(Get(study.id, bad.number).state, TrialState::kInfeasible);
}

TEST_F(AnsweredLaterTest, SuggestionsAreHandedOutOnceTheyAreDurable) {
  const Study study = Create(ClientSpec());
  storage_.Hold(true);
  ToldOf<absl::StatusOr<std::vector<Trial>>> asked;
  ToldOf<absl::StatusOr<std::vector<Trial>>> suggested;
  studies_->Ask(study.id, 1, As("engine"), {}, asked.Listener());
  studies_->Suggest(study.id, 1, "w1", As("w1"), {}, suggested.Listener());
  EXPECT_FALSE(asked.IsTold() || suggested.IsTold());
  storage_.Hold(false);
  ASSERT_THAT(asked.Await(), IsOk());
  ASSERT_THAT(suggested.Await(), IsOk());
  EXPECT_EQ(suggested.Await()->front(), Get(study.id, suggested.Await()->front().number));
  ToldOf<absl::StatusOr<std::vector<Trial>>> nobody;
  studies_->Suggest(study.id, 1, "", As("w1"), {}, nobody.Listener());
  EXPECT_THAT(nobody.Await(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("client_id")));
}

TEST_F(AnsweredLaterTest, ReportsAndStopsToo) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id, "w1");
  const TrialId id{study.id, trial.number};
  storage_.Hold(true);
  ToldOf<absl::StatusOr<ReportedTrial>> reported;
  Told stopped;
  studies_->Report(id,
                   {{.step = 1, .metrics = {{"accuracy", 0.5}}}},
                   TokenOf(trial),
                   As("w1"),
                   reported.Listener());
  studies_->StopTrial(id, "enough", As("ann"), stopped.Listener());
  EXPECT_FALSE(reported.IsTold() || stopped.IsTold());
  storage_.Hold(false);
  ASSERT_THAT(reported.Await(), IsOk());
  EXPECT_FALSE(reported.Await()->stop);
  ASSERT_THAT(stopped.Await(), IsOk());
  EXPECT_EQ(stopped.Await()->state, TrialState::kStopping);
  ASSERT_THAT(studies_->DeleteTrial(id, As("ann")), IsOk());
  Told renewed;
  studies_->Heartbeat(id, TokenOf(trial), renewed.Listener());
  EXPECT_THAT(renewed.Await(), StatusIs(absl::StatusCode::kNotFound));
  ToldOf<absl::StatusOr<ReportedTrial>> judged;
  studies_->Judge(id, As("ann"), judged.Listener());
  EXPECT_THAT(judged.Await(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(AnsweredLaterTest, AtOnceWhereNothingChanges) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Complete(study.id, trial, 0.5), IsOk());
  const std::vector<Event> log = Log(study.id);
  storage_.Hold(true);
  Told no_study;
  Told bad_point;
  Told ended;
  Add(StudyId(99), 0.5, no_study);
  Add(study.id, 7, bad_point);
  CompleteLater(study.id, trial, 0.75, ended);
  ASSERT_TRUE(no_study.IsTold() && bad_point.IsTold() && ended.IsTold());
  EXPECT_THAT(no_study.Await(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(bad_point.Await(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x")));
  EXPECT_THAT(ended.Await(), StatusIs(absl::StatusCode::kFailedPrecondition));
  storage_.Hold(false);
  EXPECT_EQ(Log(study.id), log);
}

TEST_F(AnsweredLaterTest, ARequestRepeatedGetsTheSameTrialOnceThatIsDurable) {
  const Study study = Create(ClientSpec());
  storage_.Hold(true);
  Told first;
  Told again;
  Add(study.id, 0.5, first, "r1");
  Add(study.id, 0.5, again, "r1");
  EXPECT_FALSE(again.IsTold());
  storage_.Hold(false);
  ASSERT_THAT(first.Await(), IsOk());
  ASSERT_THAT(again.Await(), IsOk());
  EXPECT_EQ(*first.Await(), *again.Await());
  EXPECT_EQ(Get(study.id).trials, 1);
}

TEST_F(AnsweredLaterTest, WithTheRefusalOfTheStoreAndNothingIsHalfMade) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const Study before = Get(study.id);
  storage_.Hold(true);
  storage_.FailCommits(1, absl::ResourceExhaustedError("the disk is full"));
  Told refused;
  Told behind;
  CompleteLater(study.id, trial, 0.5, refused);
  Add(study.id, 0.5, behind);
  storage_.Hold(false);
  EXPECT_THAT(refused.Await(), StatusIs(absl::StatusCode::kResourceExhausted, "the disk is full"));
  EXPECT_THAT(behind.Await(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(Get(study.id), before);
  Told third;
  CompleteLater(study.id, trial, 0.5, third);
  EXPECT_THAT(third.Await(), IsOk());
}

TEST_F(AnsweredLaterTest, ACreationWaitsForTheSuggestionBeforeItWithoutAThread) {
  absl::Notification computing;
  absl::Notification go_on;
  UseScript([&](const testing::AskedFor&, Rng, const std::stop_token&) {
    computing.Notify();
    go_on.WaitForNotification();
    Suggestions suggestions;
    suggestions.points.push_back({.point = {{"x", 0.125}}});
    return suggestions;
  });
  const Study study = Create(ClientSpec());
  std::thread asker([&] { EXPECT_EQ(SuggestOne(study.id).number, TrialNumber(1)); });
  computing.WaitForNotification();
  Told second;
  Told third;
  Told refused;
  Add(study.id, 0.25, second);
  Add(study.id, 7, refused);
  Add(study.id, 0.5, third);
  EXPECT_FALSE(second.IsTold() || third.IsTold() || refused.IsTold());
  go_on.Notify();
  ASSERT_THAT(second.Await(), IsOk());
  ASSERT_THAT(third.Await(), IsOk());
  EXPECT_EQ(second.Await()->number, TrialNumber(2));
  EXPECT_EQ(third.Await()->number, TrialNumber(3));
  EXPECT_THAT(refused.Await(), StatusIs(absl::StatusCode::kInvalidArgument));
  asker.join();
  EXPECT_EQ(Get(study.id, TrialNumber(1)).point, (Point{{"x", 0.125}}));
}

TEST_F(AnsweredLaterTest, ByManyThreadsAtOnceNothingIsLost) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  StudySpec spec = ClientSpec();
  spec.parallel = kThreads * kRounds;
  const Study study = Create(spec);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string holder = "w" + std::to_string(t);
      for (int i = 0; i < kRounds; ++i) {
        Told added;
        Add(study.id, 0.5, added);
        Told completed;
        CompleteLater(study.id, SuggestOne(study.id, holder), 0.5, completed);
        EXPECT_THAT(added.Await(), IsOk());
        EXPECT_THAT(completed.Await(), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Get(study.id).completed, kThreads * kRounds);
  Restart();
  EXPECT_EQ(Get(study.id).completed, kThreads * kRounds);
}

}  // namespace
}  // namespace vernier::study
