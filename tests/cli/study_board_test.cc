#include "src/cli/terminal/study_board.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const absl::Time kStart = absl::FromUnixSeconds(1000);

class StudyBoardTest : public ::testing::Test {
 protected:
  StudyBoardTest() {
    Begin([](StudySpec&) {});
  }

  // The board of a study that differs from the usual one.
  void Begin(const std::function<void(StudySpec&)>& change) {
    board_ = StudyBoard();
    seq_ = 0;
    StudySpec spec;
    spec.name = "digits";
    spec.objectives = {{.metric = "accuracy", .goal = Goal::kMaximize}};
    spec.budget.trials = 4;
    spec.parallel = 2;
    change(spec);
    Add(0, StudyCreated{spec});
  }

  std::string Add(int seconds, EventPayload payload, Detail detail = Detail::kEvents) {
    const Event event = {.seq = EventSeq(++seq_),
                         .time = kStart + absl::Seconds(seconds),
                         .actor = "test",
                         .request_id = "",
                         .payload = std::move(payload)};
    board_.Apply(event);
    return DescribeEvent(event, board_, absl::UTCTimeZone(), detail);
  }
  void Start(int seconds, int trial) {
    Add(seconds, TrialCreated{TrialNumber(trial), {{"x", std::int64_t{trial}}}, {}, ""});
    Add(seconds, Moved(trial, TrialState::kRunning));
  }
  void Complete(int seconds, int trial, double accuracy) {
    Complete(seconds, trial, std::map<std::string, double>{{"accuracy", accuracy}});
  }
  void Complete(int seconds, int trial, const std::map<std::string, double>& metrics) {
    TrialStateChanged changed = Moved(trial, TrialState::kCompleted);
    changed.final_metrics = metrics;
    Add(seconds, changed);
  }
  static TrialStateChanged Moved(int trial, TrialState to) {
    return {.trial = TrialNumber(trial), .from = TrialState::kRequested, .to = to, .message = ""};
  }
  std::string Screen(int seconds, BoardOptions options = {}) {
    std::string screen;
    for (const std::string& line : board_.Lines(options, kStart + absl::Seconds(seconds))) {
      screen += line + "\n";
    }
    return screen;
  }

  StudyBoard board_;
  std::int64_t seq_ = 0;
};

TEST_F(StudyBoardTest, CountsWhatRunsAndWhatEnded) {
  Start(0, 1);
  Start(0, 2);
  Complete(10, 1, 0.5);
  EXPECT_EQ(board_.finished(), 1);
  EXPECT_EQ(board_.open(), 1);
  EXPECT_EQ(board_.running(), 1);
}

TEST_F(StudyBoardTest, KeepsTheEarlierOfEqualBests) {
  for (int trial = 1; trial <= 3; ++trial) Start(0, trial);
  Complete(1, 1, 0.5);
  Complete(2, 2, 0.7);
  Complete(3, 3, 0.7);
  ASSERT_TRUE(board_.Best().has_value());
  EXPECT_EQ(board_.Best()->number, 2);
  EXPECT_THAT(Screen(4), HasSubstr("best: trial 2  0.7  x=2"));
}

TEST_F(StudyBoardTest, TheBestKeepsEveryConstraint) {
  Begin([](StudySpec& spec) { spec.outcome_constraints = {"latency_ms <= 20"}; });
  for (int trial = 1; trial <= 2; ++trial) Start(0, trial);
  Complete(1, 1, {{"accuracy", 0.9}, {"latency_ms", 30}});
  EXPECT_THAT(Screen(1), HasSubstr("best: none yet"));
  EXPECT_THAT(Screen(1), HasSubstr("1!  COMPLETED"));
  Complete(2, 2, {{"accuracy", 0.5}, {"latency_ms", 10}});
  EXPECT_THAT(Screen(2), HasSubstr("best: trial 2  0.5  x=2"));
}

TEST_F(StudyBoardTest, ShowsEveryObjectiveAndHowManyTrialsAreOptimal) {
  Begin([](StudySpec& spec) {
    spec.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  });
  for (int trial = 1; trial <= 4; ++trial) Start(0, trial);
  Complete(1, 1, {{"accuracy", 0.9}, {"latency_ms", 30}});
  Complete(2, 2, {{"accuracy", 0.5}, {"latency_ms", 10}});
  Complete(3, 3, {{"accuracy", 0.5}, {"latency_ms", 11}});
  Complete(4, 4, {{"accuracy", 0.95}});  // Of no rank without the other.
  const std::string screen = Screen(4);
  EXPECT_THAT(screen, HasSubstr("maximize accuracy, minimize latency_ms"));
  EXPECT_THAT(screen, HasSubstr("2 optimal trials, best: trial 1  0.9  30  x=1"));
  EXPECT_THAT(screen, HasSubstr("accuracy  latency_ms  CURVE"));
  EXPECT_THAT(screen, HasSubstr("2*  COMPLETED       0.5          10"));
  EXPECT_THAT(screen, HasSubstr("3  COMPLETED       0.5          11"));
  EXPECT_THAT(screen, HasSubstr("4  COMPLETED      0.95           -"));
}

TEST_F(StudyBoardTest, EstimatesTheTimeLeftFromTrialsThatEnded) {
  Start(0, 1);
  Complete(10, 1, 0.5);
  // Three trials of ten seconds, two at a time.
  EXPECT_THAT(Screen(12), HasSubstr("1 of 4 trials, 12s, about 15s left"));
}

TEST_F(StudyBoardTest, ShowsRunningTrialsFirst) {
  Start(0, 1);
  Complete(5, 1, 0.5);
  Start(5, 2);
  const std::string screen = Screen(6);
  EXPECT_LT(screen.find("RUNNING"), screen.find("COMPLETED"));
}

TEST_F(StudyBoardTest, StaysInsideItsSize) {
  for (int trial = 1; trial <= 40; ++trial) Start(trial, trial);
  const auto lines = board_.Lines({.width = 50, .height = 12}, kStart);
  EXPECT_LE(lines.size(), 12U);
  for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), 50) << line;
}

TEST_F(StudyBoardTest, DescribesEachEventInOneLine) {
  EXPECT_EQ(
      Add(3600, MeasurementReported{TrialNumber(1), {.step = 3, .metrics = {{"accuracy", 0.5}}}}),
      "1970-01-01T01:16:40+00:00 trial 1 step=3 accuracy=0.5");
  TrialStateChanged failed = Moved(1, TrialState::kFailed);
  failed.failure = FailureClass::kNoMetric;
  failed.message = "no\x1bline";
  EXPECT_EQ(Add(3600, failed), "1970-01-01T01:16:40+00:00 trial 1 FAILED NO_METRIC: no·line");
  EXPECT_THAT(Add(3600, LeaseRenewed{TrialNumber(1), kStart}), IsEmpty());
}

TEST_F(StudyBoardTest, TellsOfEachTrialOnceUnlessMoreIsAsked) {
  constexpr Detail kBrief = Detail::kTrials;
  EXPECT_THAT(Add(0, TrialCreated{TrialNumber(1), {{"x", 0.25}}, {}, ""}, kBrief), IsEmpty());
  EXPECT_THAT(Add(0, Moved(1, TrialState::kRunning), kBrief), IsEmpty());
  EXPECT_THAT(Add(1,
                  MeasurementReported{TrialNumber(1), {.step = 10, .metrics = {{"accuracy", 0.5}}}},
                  kBrief),
              IsEmpty());
  TrialStateChanged completed = Moved(1, TrialState::kCompleted);
  completed.final_metrics = {{"accuracy", 0.5}};
  EXPECT_EQ(
      Add(12, completed, kBrief),
      "1970-01-01T00:16:52+00:00 trial 1 COMPLETED accuracy=0.5, best so far (x=0.25) in 12s");
  EXPECT_EQ(Add(12, StudyStateChanged{.to = StudyState::kPaused, .reason = "by the user"}, kBrief),
            "1970-01-01T00:16:52+00:00 study PAUSED: by the user");
  EXPECT_THAT(Add(13, Moved(1, TrialState::kCompleted), Detail::kNothing), IsEmpty());
}

TEST_F(StudyBoardTest, TellsWhyATrialIsTriedAgain) {
  constexpr Detail kBrief = Detail::kTrials;
  Start(0, 1);
  const AttemptStateChanged lost = {.trial = TrialNumber(1),
                                    .attempt = AttemptNumber(1),
                                    .to = AttemptState::kLost,
                                    .failure = FailureClass::kNodeLost,
                                    .message = "its supervisor is gone"};
  // If no other attempt follows, the end of the trial says it.
  EXPECT_THAT(Add(1, lost, kBrief), IsEmpty());
  EXPECT_EQ(Add(1, Moved(1, TrialState::kQueued), kBrief),
            "1970-01-01T00:16:41+00:00 trial 1 attempt 1 LOST NODE_LOST, tried again: its "
            "supervisor is gone");
  Add(2, Moved(1, TrialState::kPreparing), kBrief);
  EXPECT_THAT(Add(3, Moved(1, TrialState::kQueued), kBrief), IsEmpty());
}

TEST_F(StudyBoardTest, MarksATrialThatWasStoppedByWhereTheLongestCurveEnds) {
  Start(0, 1);
  Start(0, 2);
  Add(1, MeasurementReported{TrialNumber(1), {.step = 10, .metrics = {{"accuracy", 0.5}}}});
  Add(1, MeasurementReported{TrialNumber(2), {.step = 1, .metrics = {{"accuracy", 0.1}}}});
  Add(1, StopDecided{.trial = TrialNumber(2), .stop = {.rule = "median"}});
  EXPECT_THAT(Screen(2), Not(HasSubstr("STOPPED")));  // It runs still.
  TrialStateChanged stopped = Moved(2, TrialState::kCompleted);
  stopped.final_metrics = {{"accuracy", 0.1}};
  EXPECT_THAT(Add(3, stopped, Detail::kTrials), HasSubstr("trial 2 STOPPED 1/10 accuracy=0.1"));
  EXPECT_THAT(Screen(4), HasSubstr("STOPPED 1/10"));
}

TEST_F(StudyBoardTest, ShowsTheFirstLineOfWhyATrialFailed) {
  Start(0, 1);
  EXPECT_THAT(Screen(1, {.width = 100}), Not(HasSubstr("MESSAGE")));
  TrialStateChanged failed = Moved(1, TrialState::kFailed);
  failed.failure = FailureClass::kUserError;
  failed.message = "ValueError: no such file\nTraceback (most recent call last):";
  EXPECT_EQ(
      Add(2, failed, Detail::kTrials),
      "1970-01-01T00:16:42+00:00 trial 1 FAILED USER_ERROR (x=1) in 2.0s: ValueError: no such "
      "file");
  const std::string screen = Screen(3, {.width = 100});
  EXPECT_THAT(screen, HasSubstr("MESSAGE\n"));
  EXPECT_THAT(screen, HasSubstr("2.0s  ValueError: no such file\n"));
  EXPECT_THAT(screen, Not(HasSubstr("Traceback")));
}

}  // namespace
}  // namespace vernier::cli
