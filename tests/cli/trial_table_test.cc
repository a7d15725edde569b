#include "src/cli/terminal/trial_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Objective kAccuracy = {.metric = "accuracy", .goal = Goal::kMaximize};
const Objective kLatency = {.metric = "latency_ms", .goal = Goal::kMinimize};

std::vector<std::string> LinesOf(const std::vector<TrialSummary>& rows,
                                 const std::vector<Objective>& objectives) {
  return TrialTable(rows, objectives, ScaleOf(rows, /*unicode=*/true)).Lines({});
}

TEST(TrialTable, OfOneObjectiveHasAColumnOfThatName) {
  EXPECT_THAT(LinesOf({{.number = 7, .is_best = true, .objectives = {0.5}}}, {kAccuracy}),
              ElementsAre(StartsWith("NUMBER  STATE      OBJECTIVE  CURVE"),
                          StartsWith("    7*  REQUESTED        0.5  -")));
}

TEST(TrialTable, OfSeveralObjectivesNamesEach) {
  const TrialSummary row = {
      .number = 7, .breaks_constraint = true, .objectives = {0.5, std::nullopt}};
  EXPECT_THAT(LinesOf({row}, {kAccuracy, kLatency}),
              ElementsAre(StartsWith("NUMBER  STATE      accuracy  latency_ms  CURVE"),
                          StartsWith("    7!  REQUESTED       0.5           -  -")));
}

TEST(TrialTable, TakesRowsThatHaveNoObjectiveYet) {
  EXPECT_THAT(LinesOf({{.number = 1}}, {kAccuracy, kLatency}).back(),
              StartsWith("     1  REQUESTED         -           -  -"));
}

TEST(TrialTable, DrawsEveryCurveOnOneScale) {
  const auto lines =
      LinesOf({{.number = 1, .curve = {0, 1, 2}}, {.number = 2, .curve = {5, 6, 7}}}, {kAccuracy});
  EXPECT_THAT(lines[1], HasSubstr("▁▂▃"));
  EXPECT_THAT(lines[2], HasSubstr("▆▇█"));
}

TEST(TrialTable, MarksWhereATrialWasStopped) {
  const TrialSummary whole = {.number = 1, .state = TrialState::kCompleted, .last_step = 10};
  TrialSummary stopped = {
      .number = 2, .state = TrialState::kCompleted, .stopped_early = true, .last_step = 1};
  EXPECT_THAT(LinesOf({whole, stopped}, {kAccuracy}).back(), StartsWith("     2  STOPPED 1/10"));
  // The longest curve of the study may be one that the list does not show.
  EXPECT_EQ(StateCell(stopped, ScaleOf(std::vector{stopped}, true, 40)).text, "STOPPED 1/40");
  stopped.last_step = 0;
  EXPECT_EQ(StateText(stopped, 40), "STOPPED");
}

TEST(TrialTable, SaysWhyTrialsFailedInTheWidthOfATerminal) {
  const TrialSummary row = {.number = 1,
                            .state = TrialState::kFailed,
                            .parameters = "learning_rate=0.000123 batch=64 optimizer=adam",
                            .message = "ValueError: the batch does not fit into the memory at all"};
  const auto lines = LinesOf({row}, {kAccuracy});
  EXPECT_THAT(lines[0], EndsWith("DURATION  MESSAGE"));
  EXPECT_THAT(lines[1], HasSubstr("ValueError: the"));
  EXPECT_THAT(lines[1], EndsWith("…"));
  EXPECT_LE(DisplayWidth(lines[1]), 80);
  const auto whole =
      TrialTable(std::vector{row}, std::vector{kAccuracy}, ScaleOf(std::vector{row}, true))
          .Lines({.cut = false});
  EXPECT_THAT(whole[1], HasSubstr(row.parameters));
  EXPECT_THAT(whole[1], EndsWith(row.message));
}

}  // namespace
}  // namespace vernier::cli
