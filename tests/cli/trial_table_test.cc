#include "src/cli/terminal/trial_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

const Objective kAccuracy = {.metric = "accuracy", .goal = Goal::kMaximize};
const Objective kLatency = {.metric = "latency_ms", .goal = Goal::kMinimize};

std::vector<std::string> LinesOf(const std::vector<TrialRow>& rows,
                                 const std::vector<Objective>& objectives) {
  return TrialTable(rows, objectives, /*unicode=*/true).Lines({});
}

TEST(TrialTable, OfOneObjectiveHasAColumnOfThatName) {
  EXPECT_THAT(LinesOf({{.number = 7, .is_best = true, .objectives = {0.5}}}, {kAccuracy}),
              ElementsAre(StartsWith("NUMBER  STATE      OBJECTIVE  CURVE"),
                          StartsWith("    7*  REQUESTED        0.5  -")));
}

TEST(TrialTable, OfSeveralObjectivesNamesEach) {
  const TrialRow row = {.number = 7, .breaks_constraint = true, .objectives = {0.5, std::nullopt}};
  EXPECT_THAT(LinesOf({row}, {kAccuracy, kLatency}),
              ElementsAre(StartsWith("NUMBER  STATE      accuracy  latency_ms  CURVE"),
                          StartsWith("    7!  REQUESTED       0.5           -  -")));
}

TEST(TrialTable, TakesRowsThatHaveNoObjectiveYet) {
  EXPECT_THAT(LinesOf({{.number = 1}}, {kAccuracy, kLatency}).back(),
              StartsWith("     1  REQUESTED         -           -  -"));
}

}  // namespace
}  // namespace vernier::cli
