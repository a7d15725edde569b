#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "tests/study/study_fixture.h"
#include "vernier/core/unit_cube.h"

namespace vernier::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

// Stops a trial whose curve falls below a line.
class FloorRule final : public EarlyStopper {
 public:
  explicit FloorRule(std::string version) : version_(std::move(version)) {}
  std::string_view name() const override { return "floor"; }
  std::string_view version() const override { return version_; }
  std::string options() const override { return "{}"; }
  Verdict Judge(const Curve& running, std::span<const Curve>) const override {
    const double value = running.points.back().value;
    return {.stop = value < 0.1,
            .numbers = {{"value", value},
                        {"place", running.coordinates.front()},
                        {kExpectedEndNumber, value / 2},
                        {kExpectedEndDeviationNumber, 0.25}},
            .explanation = "below the floor"};
  }

 private:
  const std::string version_;
};

// Stops a trial once another one has reported more than 0.9. Does something once while it judges.
class RivalRule final : public EarlyStopper {
 public:
  explicit RivalRule(std::function<void()>& meanwhile) : meanwhile_(meanwhile) {}
  std::string_view name() const override { return "rival"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return "{}"; }
  Verdict Judge(const Curve&, std::span<const Curve> others) const override {
    const bool is_behind = std::ranges::any_of(others, [](const Curve& other) {
      return !other.points.empty() && other.points.back().value > 0.9;
    });
    if (const auto now = std::exchange(meanwhile_, nullptr)) now();
    return {.stop = is_behind, .explanation = "another one is ahead"};
  }

 private:
  std::function<void()>& meanwhile_;
};

class ReportingTest : public StudyFixture {
 protected:
  void UseRivalRule(std::function<void()>& meanwhile) {
    algorithms_ = testing::WithStopper(algorithms_, [&meanwhile](Goal, const Choice&) {
      return std::make_unique<RivalRule>(meanwhile);
    });
    Restart();
  }
  void UseFloorRule(std::string version = "1") {
    algorithms_ = testing::WithStopper(algorithms_, [version](Goal, const Choice&) {
      return std::make_unique<FloorRule>(version);
    });
    Restart();
  }
};

TEST_F(ReportingTest, EqualMeasurementsAreStoredOnce) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, trial, 1, 0.5), IsOk());
  ASSERT_THAT(Report(study.id, trial, 1, 0.5), IsOk());
  ASSERT_THAT(Report(study.id, trial, 1, 0.6), IsOk());
  Restart();
  ASSERT_THAT(Report(study.id, trial, 1, 0.5), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).measurements, 2);
  EXPECT_EQ(studies_->ListMeasurements({study.id, trial.number})->size(), 2);
}

TEST_F(ReportingTest, NotANumberIsKeptAndKnownAgain) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ASSERT_THAT(Report(study.id, trial, 1, nan), IsOk());
  ASSERT_THAT(Report(study.id, trial, 1, nan), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).measurements, 1);
}

TEST_F(ReportingTest, FillsInTheTimeOfAMeasurementThatHasNone) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  clock_.Advance(absl::Seconds(5));
  const Measurement bare{.step = 1, .time = absl::UnixEpoch(), .metrics = {{"loss", 3}}};
  ASSERT_THAT(studies_->Report({study.id, trial.number}, {bare}, TokenOf(trial), As("w1")), IsOk());
  const Measurement stored = *Get(study.id, trial.number).last;
  EXPECT_EQ(stored.time, clock_.Now());
  EXPECT_EQ(stored.elapsed, absl::Seconds(5));
  EXPECT_EQ(stored.source, "client");
}

TEST_F(ReportingTest, TheLastValueOfEachMetricIsMerged) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  Measurement loss = Measured(1, 0.5);
  loss.metrics = {{"loss", 3}};
  const std::vector<Measurement> all = {Measured(1, 0.5), loss, Measured(2, 0.75)};
  ASSERT_THAT(studies_->Report({study.id, trial.number}, all, TokenOf(trial), As("w1")), IsOk());
  const auto completed = studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("w1"));
  ASSERT_THAT(completed, IsOk());
  EXPECT_EQ(completed->final_metrics,
            (std::map<std::string, double>{{"accuracy", 0.75}, {"loss", 3}}));
}

TEST_F(ReportingTest, RefusesMeasurementsWithoutMetrics) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  Measurement empty = Measured(1, 0);
  empty.metrics.clear();
  EXPECT_THAT(studies_->Report(
                  {study.id, trial.number}, {Measured(1, 0.5), empty}, TokenOf(trial), As("w1")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "measurements[1].metrics: must hold at least one metric"));
  EXPECT_EQ(Get(study.id, trial.number).measurements, 0);
}

TEST_F(ReportingTest, TheVerdictFollowsItsMeasurementInTheSameCommit) {
  UseFloorRule();
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, trial, 1, 0.5), IsOk());
  const EventSeq before = Get(study.id).last_event;
  const int commits = storage_.commits();
  const std::vector<Measurement> more = {Measured(2, 0.05), Measured(3, 0.04)};
  const auto reported = studies_->Report({study.id, trial.number}, more, TokenOf(trial), As("w1"));
  ASSERT_THAT(reported, IsOk());
  EXPECT_TRUE(reported->stop);
  EXPECT_EQ(storage_.commits(), commits + 1);
  EXPECT_THAT(
      Kinds(study.id, before),
      ElementsAre(
          "measurement_reported", "stop_decided", "trial_state_changed", "measurement_reported"));
  EXPECT_EQ(reported->trial.stop->as_of.value(), before.value() + 1);
  EXPECT_EQ(reported->trial.stop->rule, "floor");
  EXPECT_EQ(reported->trial.stop->numbers.at("value"), 0.05);
  EXPECT_EQ(reported->trial.stop->numbers.at("place"),
            EmbedPoint(ClientSpec().space, trial.point).front());
  const auto completed = studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("w1"));
  ASSERT_THAT(completed, IsOk());
  EXPECT_EQ(completed->state, TrialState::kCompleted);
  EXPECT_EQ(completed->final_metrics.at("accuracy"), 0.04);
}

TEST_F(ReportingTest, TheAlgorithmLearnsWhatTheRuleExpectedOfATrialThatItStopped) {
  testing::AskedFor asked;
  UseScript([&](const testing::AskedFor& now, Rng, std::stop_token) -> absl::StatusOr<Suggestions> {
    asked = now;
    return Suggestions{.points = {{.point = {{"x", 0.5}}, .origin = "scripted"}}, .state = ""};
  });
  UseFloorRule();
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, trial, 1, 0.5), IsOk());
  ASSERT_THAT(Report(study.id, trial, 2, 0.05), IsOk());
  ASSERT_THAT(studies_->Complete({study.id, trial.number}, {}, TokenOf(trial), As("w1")), IsOk());
  SuggestOne(study.id);
  Restart();  // The same from the log.
  SuggestOne(study.id);
  ASSERT_THAT(asked.finished, ::testing::SizeIs(1));
  EXPECT_THAT(asked.finished[0].values, ElementsAre(0.05));
  EXPECT_EQ(asked.finished[0].expected_end, (ExpectedEnd{.mean = 0.025, .deviation = 0.25}));
}

TEST_F(ReportingTest, ARuleIsNamedBeforeItsFirstJudgementAndWhenItChanges) {
  UseFloorRule("1");
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const EventSeq before = Get(study.id).last_event;
  ASSERT_THAT(Report(study.id, trial, 1, 0.5), IsOk());
  ASSERT_THAT(Report(study.id, trial, 2, 0.5), IsOk());
  UseFloorRule("2");
  ASSERT_THAT(Report(study.id, trial, 3, 0.5), IsOk());
  EXPECT_THAT(Kinds(study.id, before),
              ElementsAre("algorithm_changed",
                          "measurement_reported",
                          "measurement_reported",
                          "algorithm_changed",
                          "measurement_reported"));
}

TEST_F(ReportingTest, OthersReportWhileTheRuleJudges) {
  std::function<void()> meanwhile;
  UseRivalRule(meanwhile);
  const Study study = Create(ClientSpec());
  const Trial judged = SuggestOne(study.id, "w1");
  const Trial rival = SuggestOne(study.id, "w2");
  ASSERT_THAT(Report(study.id, rival, 1, 0.5), IsOk());
  const EventSeq before = Get(study.id).last_event;
  meanwhile = [&] { ASSERT_THAT(Report(study.id, rival, 2, 0.95), IsOk()); };
  const auto first = Report(study.id, judged, 1, 0.5);
  ASSERT_THAT(first, IsOk());
  // The rule did not know of the rival's report, and the log says so.
  EXPECT_FALSE(first->stop);
  const auto reported = std::get<MeasurementReported>(Log(study.id).back().payload);
  EXPECT_EQ(reported.trial, judged.number);
  EXPECT_EQ(reported.judged_as_of, before);
  const auto second = Report(study.id, judged, 2, 0.5);
  ASSERT_THAT(second, IsOk());
  EXPECT_TRUE(second->stop);
  const auto replayed = studies_->Replay(study.id);
  ASSERT_THAT(replayed, IsOk());
  EXPECT_TRUE(replayed->problems.empty());
  EXPECT_EQ(replayed->stops, 1);
}

TEST_F(ReportingTest, TheRuleIsAskedOnceForAReportIfNobodyElseReports) {
  std::function<void()> meanwhile;
  UseRivalRule(meanwhile);
  const Study study = Create(ClientSpec());
  const Trial judged = SuggestOne(study.id, "w1");
  const Trial rival = SuggestOne(study.id, "w2");
  int calls = 0;
  const std::function<void()> count = [&] {
    ++calls;
    meanwhile = count;
  };
  meanwhile = count;
  ASSERT_THAT(Report(study.id, rival, 1, 0.95), IsOk());
  EXPECT_TRUE(Report(study.id, judged, 1, 0.5)->stop);
  EXPECT_EQ(calls, 2);
}

TEST_F(ReportingTest, AVerdictIsMadeAgainIfTheTrialItselfReportedMeanwhile) {
  std::function<void()> meanwhile;
  UseRivalRule(meanwhile);
  const Study study = Create(ClientSpec());
  const Trial judged = SuggestOne(study.id, "w1");
  const Trial rival = SuggestOne(study.id, "w2");
  meanwhile = [&] {
    meanwhile = [&] { ASSERT_THAT(Report(study.id, rival, 1, 0.95), IsOk()); };
    ASSERT_THAT(Report(study.id, judged, 1, 0.5), IsOk());
  };
  const auto reported = Report(study.id, judged, 2, 0.5);
  ASSERT_THAT(reported, IsOk());
  EXPECT_TRUE(reported->stop);
  EXPECT_TRUE(studies_->Replay(study.id)->problems.empty());
}

TEST_F(ReportingTest, OthersReportWhileAnAskedRuleJudges) {
  std::function<void()> meanwhile;
  UseRivalRule(meanwhile);
  StudySpec spec = ClientSpec();
  spec.judged_when_asked = true;
  const Study study = Create(spec);
  const Trial judged = SuggestOne(study.id, "w1");
  const Trial rival = SuggestOne(study.id, "w2");
  ASSERT_THAT(Report(study.id, judged, 1, 0.5), IsOk());
  meanwhile = [&] { ASSERT_THAT(Report(study.id, rival, 1, 0.95), IsOk()); };
  EXPECT_FALSE(studies_->Judge({study.id, judged.number}, As("w1"))->stop);
  EXPECT_TRUE(studies_->Judge({study.id, judged.number}, As("w1"))->stop);
  EXPECT_TRUE(studies_->Replay(study.id)->problems.empty());
}

TEST_F(ReportingTest, ATrialWithoutItsObjectiveFailsAndSaysWhatItReported) {
  const Study study = Create(ClientSpec());
  const Trial silent = SuggestOne(study.id, "w1");
  const Trial wrong = SuggestOne(study.id, "w2");
  const auto none = studies_->Complete({study.id, silent.number}, {}, TokenOf(silent), As("w1"));
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(none->state, TrialState::kFailed);
  EXPECT_EQ(none->failure, FailureClass::kNoMetric);
  EXPECT_EQ(none->message,
            "ended without a value of its objective 'accuracy'; it reported no metric");
  Measurement measured = Measured(1, 0.5);
  measured.metrics = {{"acc", 1}, {"loss", 2}};
  ASSERT_THAT(
      studies_->Report({study.id, wrong.number}, {measured}, TokenOf(wrong), As("w2")).status(),
      IsOk());
  const auto other = studies_->Complete({study.id, wrong.number}, {}, TokenOf(wrong), As("w2"));
  EXPECT_EQ(other->message,
            "ended without a value of its objective 'accuracy'; it reported acc, loss");
  EXPECT_EQ(Get(study.id).failed, 2);
}

TEST_F(ReportingTest, AMisspeltFinalMetricIsRefusedAndTheTrialGoesOn) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const TrialId id{study.id, trial.number};
  const auto before = Kinds(study.id, EventSeq(0));
  const auto complete = [&](const std::map<std::string, double>& metrics) {
    return studies_->Complete(id, {.metrics = metrics}, TokenOf(trial), As("w1", "end"));
  };
  const absl::Status slip = complete({{"acuracy", 0.9}, {"loss", 2}}).status();
  EXPECT_EQ(slip,
            FieldError("final_metrics",
                       "has 'acuracy', 'loss', the study's objective is 'accuracy'; did you mean "
                       "'accuracy'?"));
  EXPECT_EQ(GetField(slip), "final_metrics");
  EXPECT_EQ(complete({{"loss", 2}}).status().message(),
            "final_metrics: has 'loss', the study's objective is 'accuracy'");
  EXPECT_EQ(Kinds(study.id, EventSeq(0)), before);
  EXPECT_EQ(Get(study.id, trial.number).state, TrialState::kRunning);
  ASSERT_THAT(complete({{"accuracy", 0.9}}),
              IsOk());  // Under the same request, which did nothing before.
  EXPECT_EQ(Get(study.id).completed, 1);
}

TEST_F(ReportingTest, FinalMetricsMustHoldEveryObjective) {
  StudySpec spec = ClientSpec();
  spec.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  const Study study = Create(spec);
  const Trial trial = SuggestOne(study.id);
  const TrialId id{study.id, trial.number};
  const auto refused = studies_->Complete(
      id, {.metrics = {{"accuracy", 1}, {"latency_m", 2}}}, TokenOf(trial), As("w1"));
  EXPECT_EQ(refused.status().message(),
            "final_metrics: has 'accuracy', 'latency_m', the study's objectives are 'accuracy', "
            "'latency_ms'; did you mean 'latency_ms'?");
  EXPECT_EQ(Get(study.id, trial.number).state, TrialState::kRunning);
}

TEST_F(ReportingTest, ATrialWithoutSomeOfItsObjectivesFailsAndNamesThem) {
  StudySpec spec = ClientSpec();
  spec.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  spec.objectives.push_back({.metric = "memory_mb", .goal = Goal::kMinimize});
  const Study study = Create(spec);
  const auto message_of = [&](const std::map<std::string, double>& metrics) {
    const Trial trial = SuggestOne(study.id);
    const TrialId id{study.id, trial.number};
    Measurement measured = Measured(1, 0.5);
    measured.metrics = metrics;
    EXPECT_THAT(studies_->Report(id, {measured}, TokenOf(trial), As("w1")).status(), IsOk());
    const auto ended = studies_->Complete(id, {}, TokenOf(trial), As("w1"));
    EXPECT_THAT(ended, IsOk());
    EXPECT_EQ(ended->failure, FailureClass::kNoMetric);
    return ended->message;
  };
  EXPECT_EQ(message_of({{"accuracy", 1}, {"memory_mb", 2}}),
            "ended without a value of its objective 'latency_ms'; it reported accuracy, memory_mb");
  EXPECT_EQ(message_of({{"accuracy", 1}}),
            "ended without a value of its objectives 'latency_ms', 'memory_mb'; it reported "
            "accuracy");
}

TEST_F(ReportingTest, EndsAreIdempotentByRequestIdAndFinalWithout) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const TrialId id{study.id, trial.number};
  const auto complete = [&](double value, std::string request) {
    return studies_->Complete(
        id, {.metrics = {{"accuracy", value}}}, TokenOf(trial), As("w1", request));
  };
  const auto first = complete(0.5, "r1");
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(complete(0.5, "r1").value(), *first);
  EXPECT_EQ(GetReason(complete(0.6, "r1").status()), Reason::kRequestReused);
  EXPECT_EQ(GetReason(complete(0.5, "r2").status()), Reason::kTrialFinished);
  EXPECT_EQ(
      GetReason(studies_->Fail(id, FailureClass::kUserError, "", TokenOf(trial), As("w1", "r1"))
                    .status()),
      Reason::kRequestReused);
}

TEST_F(ReportingTest, FailAndInfeasibleAreIdempotentByRequestId) {
  const Study study = Create(ClientSpec());
  const Trial one = SuggestOne(study.id, "w1");
  const Trial two = SuggestOne(study.id, "w2");
  for (int i = 0; i < 2; ++i) {
    const auto failed = studies_->Fail(
        {study.id, one.number}, FailureClass::kUserError, "it broke", TokenOf(one), As("w1", "r1"));
    ASSERT_THAT(failed, IsOk());
    EXPECT_EQ(failed->message, "it broke");
    const auto infeasible = studies_->MarkInfeasible({study.id, two.number},
                                                     "no such layer",
                                                     {.metrics = {{"accuracy", 0.25}}},
                                                     TokenOf(two),
                                                     As("w2", "r2"));
    ASSERT_THAT(infeasible, IsOk());
    EXPECT_EQ(infeasible->state, TrialState::kInfeasible);
    EXPECT_EQ(infeasible->final_metrics.at("accuracy"), 0.25);  // Kept, and counted for nothing.
    EXPECT_EQ(infeasible->client, "w2");
    EXPECT_EQ(Get(study.id).best, std::nullopt);
  }
  EXPECT_EQ(Get(study.id).failed, 2);
}

TEST_F(ReportingTest, ReportsAreIdempotentByRequestId) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const TrialId id{study.id, trial.number};
  const auto report = [&](std::int64_t step) {
    return studies_->Report(id, {Measured(step, 0.5)}, TokenOf(trial), As("w1", "r1"));
  };
  ASSERT_THAT(report(1), IsOk());
  ASSERT_THAT(report(1), IsOk());
  EXPECT_EQ(GetReason(report(2).status()), Reason::kRequestReused);
  EXPECT_EQ(Get(study.id, trial.number).measurements, 1);
}

TEST_F(ReportingTest, StopTrialCancelsAWaitingOneAndTellsARunningOne) {
  const Study study = Create(ClientSpec());
  const Trial running = SuggestOne(study.id);
  const Trial waiting = studies_->AddTrial(study.id, {.point = {{"x", 0.5}}}, As("ann")).value();
  const auto cancelled = studies_->StopTrial({study.id, waiting.number}, "typo", As("ann", "r1"));
  ASSERT_THAT(cancelled, IsOk());
  EXPECT_EQ(cancelled->state, TrialState::kCancelled);
  EXPECT_EQ(cancelled->message, "typo");
  EXPECT_THAT(studies_->StopTrial({study.id, waiting.number}, "typo", As("ann", "r1")), IsOk());
  const auto told = studies_->StopTrial({study.id, running.number}, "", As("ann", "r2"));
  ASSERT_THAT(told, IsOk());
  EXPECT_EQ(told->state, TrialState::kStopping);
  EXPECT_EQ(told->stop->rule, "user");
  EXPECT_THAT(studies_->StopTrial({study.id, running.number}, "", As("ann", "r2")), IsOk());
  EXPECT_THAT(studies_->StopTrial({study.id, running.number}, "", As("ann", "r3")),
              StatusIs(absl::StatusCode::kFailedPrecondition, "trial 1 is being stopped already"));
  const auto failed = studies_->Fail(
      {study.id, running.number}, FailureClass::kUserError, "", TokenOf(running), As("w1"));
  ASSERT_THAT(failed, IsOk());
  EXPECT_EQ(failed->state, TrialState::kCancelled);  // It was told to: that is no failure.
  EXPECT_EQ(Get(study.id).failed, 0);
}

}  // namespace
}  // namespace vernier::study
