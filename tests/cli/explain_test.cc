#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/terminal/output.h"
#include "src/cli/trial_csv.h"
#include "src/cli/trial_text.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::vernier::testing::IsOk;

class ExplainTest : public ::testing::Test {
 protected:
  ExplainTest() {
    StudySpec& spec = study_.study.spec;
    spec.name = "s";
    spec.objectives = {{.metric = "loss", .goal = Goal::kMinimize}};
    spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{.lower = 0, .upper = 1}},
                                 {.name = "k", .domain = CategoricalDomain{{"a", "b"}}}});
  }
  static TrialRecord MakeTrial(int number, double x, const std::string& k, double loss) {
    TrialRecord record;
    record.trial.number = TrialNumber(number);
    record.trial.state = TrialState::kCompleted;
    record.trial.point = {{"x", x}, {"k", k}};
    record.trial.final_metrics = {{"loss", loss}};
    return record;
  }
  std::vector<Neighbour> Nearest(const TrialRecord& trial,
                                 const std::vector<TrialRecord>& all,
                                 std::size_t count) const {
    Neighbourhood neighbourhood(study_, trial.trial, count);
    for (const TrialRecord& other : all) neighbourhood.Show(other.trial);
    return neighbourhood.nearest();
  }
  StudyRecord study_;
};

TEST_F(ExplainTest, DistanceIsZeroToItselfAndOneToTheOppositeCorner) {
  const Space& space = study_.study.spec.space;
  const Point a = {{"x", 0.0}, {"k", "a"}};
  const Point b = {{"x", 1.0}, {"k", "b"}};
  EXPECT_EQ(PointDistance(space, a, a), 0);
  EXPECT_EQ(PointDistance(space, a, b), 1);
}

TEST_F(ExplainTest, ListsTheNearestFirstOfThoseThatWereThere) {
  std::vector<TrialRecord> all = {MakeTrial(1, 0.1, "b", 1),
                                  MakeTrial(2, 0.9, "a", 2),
                                  MakeTrial(3, 0.2, "a", 3),
                                  MakeTrial(4, 0.2, "a", 4)};
  all[2].trial.suggestion.pending = {TrialNumber(1)};
  const auto nearest = Nearest(all[2], all, 5);
  ASSERT_EQ(nearest.size(), 2U);
  EXPECT_EQ(nearest[0].trial, 2);
  EXPECT_EQ(nearest[0].objective, 2);
  EXPECT_EQ(nearest[1].trial, 1);
  EXPECT_EQ(nearest[1].objective, std::nullopt);
  EXPECT_TRUE(nearest[1].was_pending);
}

TEST_F(ExplainTest, OfManyTrialsTheNearestAreKept) {
  std::vector<TrialRecord> all;
  for (int i = 1; i <= 50; ++i) all.push_back(MakeTrial(i, (i * 37 % 50) / 100.0, "a", i));
  all.push_back(MakeTrial(51, 0.205, "a", 1));
  const auto nearest = Nearest(all.back(), all, 4);
  ASSERT_EQ(nearest.size(), 4U);
  const auto x_of = [](const Neighbour& near) { return (near.trial * 37 % 50) / 100.0; };
  EXPECT_EQ(x_of(nearest[0]), 0.2);
  EXPECT_EQ(x_of(nearest[1]), 0.21);
  EXPECT_EQ(x_of(nearest[2]), 0.19);
  EXPECT_EQ(x_of(nearest[3]), 0.22);
}

TEST_F(ExplainTest, ShowsPredictionPendingImportanceAndStop) {
  TrialRecord record = MakeTrial(4, 0.5, "a", 0.9);
  SuggestionRecord& why = record.trial.suggestion;
  why = {.algorithm = "gp", .version = "3", .origin = "model", .note = ""};
  why.predicted_mean = 1.0;
  why.predicted_deviation = 0.1;
  why.expected_improvement = 0.0125;
  why.predicted_others = {{"latency_ms", {.mean = 20, .deviation = 2}}};
  record.trial.final_metrics["latency_ms"] = 21;
  why.pending = {TrialNumber(2), TrialNumber(3)};
  why.importance = {{"x", 0.75}, {"k", 0.25}};
  record.trial.stop = {
      .rule = "median", .version = "1", .numbers = {{"median", 0.5}}, .explanation = "worse"};
  const std::string text = ExplainTrial(study_, record, {}, false);
  EXPECT_THAT(text, HasSubstr("state       STOPPED\n"));
  EXPECT_THAT(text,
              HasSubstr("predicted   1 ± 0.1 for a full run; it was stopped early, at 0.9\n"));
  EXPECT_THAT(text, Not(HasSubstr("deviations")));
  EXPECT_THAT(text, HasSubstr("expected    to improve loss by 0.0125\n"));
  EXPECT_THAT(
      text,
      HasSubstr("            latency_ms: 20 ± 2 for a full run; it was stopped early, at 21\n"));
  EXPECT_THAT(text, HasSubstr("pending     trials 2, 3\n"));
  EXPECT_THAT(text, HasSubstr("importance  x  ###############.....  0.75\n"));
  EXPECT_THAT(
      text, HasSubstr("stopped by  median version 1\n            worse\n            median 0.5\n"));
}

TEST_F(ExplainTest, GivesTheReasonOfAStopOnce) {
  TrialRecord record = MakeTrial(4, 0.5, "a", 0.9);
  record.trial.stop = {
      .rule = "median", .version = "1", .numbers = {{"median", 0.5}}, .explanation = "worse"};
  record.trial.message = "worse";
  for (const std::string& text :
       {ExplainTrial(study_, record, {}, false),
        DescribeTrial(study_, record, "", absl::UnixEpoch(), absl::UTCTimeZone())}) {
    EXPECT_THAT(text, ContainsRegex("state +STOPPED: worse\n"));
    EXPECT_THAT(text, ContainsRegex("stopped by +median version 1\n +median 0.5\n"));
  }
}

TEST_F(ExplainTest, SaysWhenATrialWasPaused) {
  TrialRecord record = MakeTrial(4, 0.5, "a", 0.9);
  const absl::Time start = absl::UnixEpoch();
  record.trial.attempts = {{.number = AttemptNumber(1),
                            .state = AttemptState::kStopped,
                            .placed = start,
                            .ended = start + absl::Minutes(1)},
                           {.number = AttemptNumber(2),
                            .state = AttemptState::kStopped,
                            .placed = start + absl::Minutes(4),
                            .ended = start + absl::Minutes(5)}};
  const auto texts = [&] {
    return std::vector{ExplainTrial(study_, record, {}, false),
                       DescribeTrial(study_, record, "", start, absl::UTCTimeZone())};
  };
  // An attempt that ended with its trial paused nothing.
  for (const std::string& text : texts()) {
    EXPECT_THAT(text, ContainsRegex("paused +after attempt 1, for 3m"));
    EXPECT_THAT(text, Not(HasSubstr("after attempt 2")));
  }
  record.trial.state = TrialState::kPaused;
  for (const std::string& text : texts()) {
    EXPECT_THAT(text,
                ContainsRegex("paused +after attempt 1, for 3m[^\n]*\n +after attempt 2, still\n"));
  }
  record.trial.attempts.clear();
  for (const std::string& text : texts()) EXPECT_THAT(text, Not(HasSubstr("after attempt")));
}

TEST_F(ExplainTest, ComparesTheEndOfAWholeTrialWithWhatWasPredicted) {
  TrialRecord record = MakeTrial(4, 0.5, "a", 0.9);
  record.trial.suggestion.predicted_mean = 1.0;
  record.trial.suggestion.predicted_deviation = 0.1;
  EXPECT_THAT(ExplainTrial(study_, record, {}, false),
              HasSubstr("predicted   1 ± 0.1, came to 0.9 (-1.0 deviations)\n"));
}

TEST_F(ExplainTest, SaysOfNeighboursWhetherTheyRanToTheirEnd) {
  std::vector<TrialRecord> all = {MakeTrial(1, 0.1, "a", 1), MakeTrial(2, 0.2, "a", 2)};
  all[0].trial.stop = {.rule = "median"};
  EXPECT_THAT(ExplainTrial(study_, all[1], Nearest(all[1], all, 3), false),
              HasSubstr("objective 1, stopped early\n"));
}

TEST_F(ExplainTest, AFailedTrialHasNoValue) {
  std::vector<TrialRecord> all = {MakeTrial(1, 0.1, "a", 1), MakeTrial(2, 0.2, "a", 2)};
  all[0].trial.state = TrialState::kFailed;
  EXPECT_THAT(ExplainTrial(study_, all[1], Nearest(all[1], all, 3), false),
              HasSubstr("trial 1  distance 0.07  failed\n"));
  all[0].trial.suggestion.predicted_mean = 1.0;
  all[0].trial.suggestion.predicted_deviation = 0.1;
  EXPECT_THAT(ExplainTrial(study_, all[0], Nearest(all[0], all, 3), false),
              HasSubstr("predicted   1 ± 0.1, but the trial failed\n"));
}

TEST_F(ExplainTest, ShowsWhereTheObjectiveWasRead) {
  const TrialRecord record = MakeTrial(1, 0.5, "a", 2);
  const absl::Time now = absl::UnixEpoch();
  EXPECT_THAT(DescribeTrial(study_, record, "tfevents", now, absl::UTCTimeZone()),
              HasSubstr("read from   tfevents: TensorBoard's event files\n"));
  EXPECT_THAT(DescribeTrial(study_, record, "", now, absl::UTCTimeZone()),
              Not(HasSubstr("read from")));
}

TEST_F(ExplainTest, KeepsLongNamesOfMetricsApartFromTheirValues) {
  TrialRecord record = MakeTrial(1, 0.5, "a", 2);
  record.trial.final_metrics["val_accuracy"] = 0.9267;
  EXPECT_THAT(DescribeTrial(study_, record, "", absl::UnixEpoch(), absl::UTCTimeZone()),
              HasSubstr("val_accuracy  0.9267\n"));
}

TEST_F(ExplainTest, ShowsAllLinesOfAMessage) {
  TrialRecord record = MakeTrial(1, 0.5, "a", 2);
  record.trial.state = TrialState::kFailed;
  record.trial.failure = FailureClass::kUserError;
  record.trial.message = "exit code 1\nValueError: x\n";
  EXPECT_THAT(
      DescribeTrial(study_, record, "", absl::UnixEpoch(), absl::UTCTimeZone()),
      HasSubstr("state       FAILED USER_ERROR: exit code 1\n              ValueError: x\n"));
}

TEST_F(ExplainTest, CsvHasOneColumnForEachMetricAndParameter) {
  const auto rows = TrialCsvRows(study_, {MakeTrial(1, 0.5, "a", 2)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["metrics.loss"], 2.0);
  EXPECT_EQ(rows[0]["parameters.x"], "0.5");
  EXPECT_TRUE(rows[0]["end_time"].is_null());
  EXPECT_EQ(rows[0]["stopped"], false);
  EXPECT_TRUE(rows[0]["duration"].is_null());
  TrialRecord ended = MakeTrial(1, 0.5, "a", 2);
  ended.trial.started = absl::UnixEpoch();
  ended.trial.ended = absl::UnixEpoch() + absl::Seconds(90);
  EXPECT_EQ(TrialCsvRows(study_, {ended})[0]["duration"], 90.0);
}

TEST_F(ExplainTest, CsvOfAListOfAnyLengthHasTheSameRows) {
  std::vector<TrialRecord> trials;
  for (int i = 1; i <= 20; ++i) trials.push_back(MakeTrial(i, i / 20.0, i % 2 ? "a" : "b", i));
  trials[1].trial.final_metrics["gap"] = -0.5;  // A column that the first trial does not have.
  trials[2].trial.final_metrics["loss"] = std::numeric_limits<double>::quiet_NaN();
  trials[3].trial.state = TrialState::kFailed;
  trials[3].trial.failure = FailureClass::kUserError;
  trials[3].trial.message = "exit code 1,\n\"quoted\"";
  trials[4].trial.started = absl::UnixEpoch();
  trials[4].trial.ended = absl::UnixEpoch() + absl::Milliseconds(1500);
  trials[5].trial.final_metrics.clear();
  trials[5].trial.last.reset();
  for (const bool headers : {true, false}) {
    TrialCsv csv(study_);
    for (const TrialRecord& trial : trials) ASSERT_THAT(csv.Add(trial.trial), IsOk());
    std::ostringstream out;
    ASSERT_THAT(csv.Write(out, headers), IsOk());
    EXPECT_EQ(out.str(), ToCsv(TrialCsvRows(study_, trials), headers));
  }
  std::ostringstream out;
  ASSERT_THAT(TrialCsv(study_).Write(out, true), IsOk());
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace vernier::cli
