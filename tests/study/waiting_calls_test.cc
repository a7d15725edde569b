// The calls of Trials that wait, made from those that tell: a fake needs the latter only.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/trials.h"

namespace vernier {
namespace {

using testing::IsOk;
using testing::StatusIs;

// Answers from another thread, with the number that it was asked about.
class FakeTrials final : public Trials {
 public:
  ~FakeTrials() override {
    for (std::thread& thread : threads_) thread.join();
  }
  using Trials::AddTrial;
  using Trials::AddTrials;
  using Trials::Ask;
  using Trials::End;
  using Trials::Heartbeat;
  using Trials::Judge;
  using Trials::Report;
  using Trials::ReportFrom;
  using Trials::StopTrial;
  using Trials::Suggest;

  void Ask(StudyId, std::size_t count, const Caller&, std::stop_token, OnTrials told) override {
    Tell(std::move(told), std::vector<Trial>(count));
  }
  void Suggest(StudyId,
               std::size_t count,
               std::string_view,
               const Caller&,
               std::stop_token,
               OnTrials told) override {
    Tell(std::move(told), std::vector<Trial>(count + 1));
  }
  void AddTrial(StudyId, TrialAddition, const Caller&, OnTrial told) override {
    Tell(std::move(told), Trial{.number = TrialNumber(7)});
  }
  void AddTrials(StudyId,
                 std::vector<TrialAddition> additions,
                 const Caller&,
                 OnTrials told) override {
    Tell(std::move(told), std::vector<Trial>(additions.size()));
  }
  void StopTrial(TrialId id, std::string_view, const Caller&, OnTrial told) override {
    Tell(std::move(told), Trial{.number = id.number, .state = TrialState::kStopping});
  }
  void Heartbeat(TrialId, const LeaseToken&, OnTrial told) override {
    told(absl::AbortedError("lost"));
  }
  void Report(TrialId id,
              const std::vector<Measurement>&,
              const std::optional<LeaseToken>&,
              const Caller&,
              OnReported told) override {
    Tell(std::move(told), ReportedTrial{.trial = {.number = id.number}, .stop = true});
  }
  void ReportFrom(AttemptId id, std::vector<Measurement>, const Caller&, OnReported told) override {
    Tell(std::move(told), ReportedTrial{.trial = {.number = id.trial.number}});
  }
  void Judge(TrialId, const Caller&, OnReported told) override {
    Tell(std::move(told), ReportedTrial{.stop = true});
  }
  void End(TrialId id,
           const TrialEnd& end,
           const std::optional<LeaseToken>&,
           const Caller&,
           OnTrial told) override {
    last_end_ = end;
    Tell(std::move(told), Trial{.number = id.number});
  }

  const TrialEnd& last_end() const { return last_end_; }

 private:
  template <typename Told, typename Answer>
  void Tell(Told told, Answer answer) {
    threads_.emplace_back([told = std::move(told), answer = std::move(answer)] { told(answer); });
  }

  std::vector<std::thread> threads_;
  TrialEnd last_end_;
};

TEST(WaitingCalls, ReturnWhatIsTold) {
  FakeTrials fake;
  const TrialId id{StudyId(1), TrialNumber(3)};
  EXPECT_EQ(fake.Ask(StudyId(1), 2, {}, {})->size(), 2U);
  EXPECT_EQ(fake.Suggest(StudyId(1), 2, "w", {}, {})->size(), 3U);
  EXPECT_EQ(fake.AddTrial(StudyId(1), {}, {})->number, TrialNumber(7));
  EXPECT_EQ(fake.AddTrials(StudyId(1), {{}, {}}, {})->size(), 2U);
  EXPECT_EQ(fake.StopTrial(id, "enough", {})->state, TrialState::kStopping);
  EXPECT_THAT(fake.Heartbeat(id, {}), StatusIs(absl::StatusCode::kAborted, "lost"));
  EXPECT_TRUE(fake.Report(id, {}, {}, {})->stop);
  EXPECT_EQ(fake.ReportFrom({id, AttemptNumber(1)}, {}, {})->trial.number, TrialNumber(3));
  EXPECT_TRUE(fake.Judge(id, {})->stop);
}

TEST(WaitingCalls, EndATrialInEachWay) {
  FakeTrials fake;
  const TrialId id{StudyId(1), TrialNumber(3)};
  ASSERT_THAT(fake.Complete(id, {.metrics = {{"a", 1}}}, {}, {}), IsOk());
  EXPECT_EQ(fake.last_end().kind, TrialEnd::Kind::kCompleted);
  EXPECT_EQ(fake.last_end().last.metrics.at("a"), 1);
  ASSERT_THAT(fake.Fail(id, FailureClass::kOutOfMemory, "why", {}, {}), IsOk());
  EXPECT_EQ(fake.last_end().kind, TrialEnd::Kind::kFailed);
  EXPECT_EQ(fake.last_end().failure, FailureClass::kOutOfMemory);
  EXPECT_EQ(fake.last_end().message, "why");
  ASSERT_THAT(fake.MarkInfeasible(id, "NaN", {.metrics = {{"a", 2}}}, {}, {}), IsOk());
  EXPECT_EQ(fake.last_end().kind, TrialEnd::Kind::kInfeasible);
  EXPECT_EQ(fake.last_end().message, "NaN");
  EXPECT_EQ(fake.last_end().last.metrics.at("a"), 2);
}

}  // namespace
}  // namespace vernier
