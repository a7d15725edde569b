#include "algorithms/grid/grid_optimizer.h"

#include <string>
#include <vector>

#include "algorithms/grid/grid_axis.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::vernier::testing::AllFeasibleKeys;
using ::vernier::testing::Bool;
using ::vernier::testing::Categorical;
using ::vernier::testing::Completed;
using ::vernier::testing::Discrete;
using ::vernier::testing::Float;
using ::vernier::testing::Int;
using ::vernier::testing::IsOk;
using ::vernier::testing::Log;
using ::vernier::testing::MakeProblem;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::StatusIs;
using ::vernier::testing::Stepped;
using ::vernier::testing::When;

using Options = std::map<std::string, ParameterValue>;

std::unique_ptr<Optimizer> NewGrid(const Space& space, const Options& options = {}) {
  return NewGridOptimizer(MakeProblem(space), {.name = "grid", .options = options}).value();
}

std::vector<std::string> Texts(const Suggestions& suggestions) {
  std::vector<std::string> texts;
  for (const Suggestion& s : suggestions.points) texts.push_back(FormatPoint(s.point));
  return texts;
}

// Every cell of one call that asks for more than there are.
std::vector<std::string> AllCells(const Space& space,
                                  const Options& options = {},
                                  Rng rng = Rng(1)) {
  return Texts(NewGrid(space, options)->Suggest({}, {}, "", rng, 100'000, {}).value());
}

std::vector<std::string> AxisTexts(const Parameter& parameter) {
  const sampling::Axis axis = grid::GridAxis(parameter).value();
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < axis.count; ++i) texts.push_back(FormatValue(axis.value_at(i)));
  return texts;
}

TEST(GridAxis, SpreadsPointsOnTheScaleAndIncludesBothEnds) {
  EXPECT_THAT(AxisTexts(Float("x", 0, 1, Scale::kLinear, 5)),
              ElementsAre("0", "0.25", "0.5", "0.75", "1"));
  EXPECT_THAT(AxisTexts(Float("x", 0.25, 4, Scale::kLog, 3)), ElementsAre("0.25", "1", "4"));
  EXPECT_THAT(AxisTexts(Float("x", 0, 1, Scale::kLinear, 1)), ElementsAre("0.5"));
  const sampling::Axis axis = grid::GridAxis(Float("x", 1e-5, 0.1, Scale::kLog, 7)).value();
  EXPECT_EQ(axis.value_at(0), ParameterValue(1e-5));
  EXPECT_EQ(axis.value_at(6), ParameterValue(0.1));
}

TEST(GridAxis, MovesPointsOfAnIntegerToWholeNumbersAndDropsRepeats) {
  EXPECT_THAT(AxisTexts(Int("n", 0, 100, Scale::kLinear, 5)),
              ElementsAre("0", "25", "50", "75", "100"));
  const std::vector<std::string> log = AxisTexts(Int("n", 1, 1024, Scale::kLog, 30));
  EXPECT_EQ(log.front(), "1");
  EXPECT_EQ(log.back(), "1024");
  EXPECT_LT(log.size(), 30u);
  EXPECT_EQ(std::set<std::string>(log.begin(), log.end()).size(), log.size());
}

TEST(GridAxis, TakesAllValuesOfFiniteDomains) {
  EXPECT_THAT(AxisTexts(Int("n", 3, 5)), ElementsAre("3", "4", "5"));
  EXPECT_THAT(AxisTexts(Int("n", 3, 5, Scale::kLinear, 50)), ElementsAre("3", "4", "5"));
  EXPECT_THAT(AxisTexts(Stepped("x", 0, 1, 0.5)), ElementsAre("0", "0.5", "1"));
  EXPECT_THAT(AxisTexts(Discrete("d", {1.5, 4})), ElementsAre("1.5", "4"));
  EXPECT_THAT(AxisTexts(Bool("b")), ElementsAre("false", "true"));
}

TEST(GridOptimizer, RefusesAFloatWithoutPointsOrStepByName) {
  const Space space = MakeSpace({Int("n", 1, 2), Float("lr", 0, 1)});
  const auto refused = NewGridOptimizer(MakeProblem(space), {.name = "grid"});
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parameters.lr.float")));
  EXPECT_EQ(GetField(refused.status()), "parameters.lr.float");
}

TEST(GridOptimizer, WalksMixedAndConditionalSpacesInOdometerOrder) {
  const Space space =
      MakeSpace({Categorical("opt", {std::string("adam"), std::string("sgd")}),
                 Bool("aug"),
                 When(Float("mom", 0, 1, Scale::kLinear, 2), "opt", {std::string("sgd")})});
  EXPECT_THAT(AllCells(space),
              ElementsAre("aug=false opt=adam",
                          "aug=true opt=adam",
                          "aug=false mom=0 opt=sgd",
                          "aug=true mom=0 opt=sgd",
                          "aug=false mom=1 opt=sgd",
                          "aug=true mom=1 opt=sgd"));
}

TEST(GridOptimizer, LeavesOutCellsThatBreakAConstraint) {
  const Space space = MakeSpace({Int("a", 1, 3), Int("b", 1, 3)}, {"a + b <= 3"});
  EXPECT_THAT(AllCells(space), ElementsAre("a=1 b=1", "a=1 b=2", "a=2 b=1"));
}

// Tells every suggestion as soon as it is asked; forgets the state before each call if `forgetful`.
std::vector<std::string> RunToTheEnd(const Space& space,
                                     const Optimizer& optimizer,
                                     bool forgetful) {
  std::vector<Observation> finished;
  std::vector<std::string> cells;
  std::string state;
  for (std::int64_t trial = 1;; ++trial) {
    const Rng stream = Rng(9).Fork(static_cast<std::uint64_t>(trial));
    const auto asked =
        optimizer.Suggest(Log(space, finished), {}, forgetful ? "" : state, stream, 1, {});
    if (!asked.ok()) {
      EXPECT_THAT(asked, StatusIs(absl::StatusCode::kOutOfRange));
      return cells;
    }
    cells.push_back(FormatPoint(asked->points[0].point));
    finished.push_back(Completed(trial, asked->points[0].point, 0));
    state = asked->state;
  }
}

TEST(GridOptimizer, ResumesFromItsStateOrFromTheTrialsAlone) {
  const Space space = MakeSpace({Int("a", 1, 4), Float("x", 0, 1, Scale::kLinear, 3)});
  EXPECT_EQ(RunToTheEnd(space, *NewGrid(space), false), AllCells(space));
  EXPECT_EQ(RunToTheEnd(space, *NewGrid(space), true), AllCells(space));
}

TEST(GridOptimizer, GoesBackForCellsThatWereGivenUp) {
  const Space space = MakeSpace({Int("a", 1, 4)});
  const std::vector<Observation> finished = {Completed(1, {{"a", std::int64_t{1}}}, 0),
                                             Completed(2, {{"a", std::int64_t{3}}}, 0),
                                             Completed(3, {{"a", std::int64_t{4}}}, 0)};
  const auto asked =
      NewGrid(space)->Suggest(Log(space, finished), {}, R"({"next":3,"seed":0})", Rng(1), 5, {});
  ASSERT_THAT(asked, IsOk());
  EXPECT_THAT(Texts(*asked), ElementsAre("a=2"));
}

TEST(GridOptimizer, ShufflesWithoutLosingOrRepeatingACell) {
  const Space space = MakeSpace({Int("a", 1, 10), Int("b", 1, 10)});
  const std::vector<std::string> cells = AllCells(space, {{"shuffle", true}});
  EXPECT_THAT(cells, SizeIs(100));
  EXPECT_THAT(std::set<std::string>(cells.begin(), cells.end()), SizeIs(100));
  EXPECT_NE(cells, AllCells(space));
  EXPECT_NE(cells, AllCells(space, {{"shuffle", true}}, Rng(2)));
  EXPECT_EQ(RunToTheEnd(space, *NewGrid(space, {{"shuffle", true}}), false).size(), 100u);
}

TEST(GridOptimizer, ShufflesTheSameWayForTheSameSeed) {
  const Space space = MakeSpace({Int("a", 1, 10), Int("b", 1, 10)});
  const Options seeded = {{"shuffle", true}, {"seed", std::int64_t{5}}};
  EXPECT_EQ(AllCells(space, seeded, Rng(1)), AllCells(space, seeded, Rng(2)));
}

TEST(GridOptimizer, StartsAtOnceOnAGridFarTooLargeToStore) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 100; ++i) parameters.push_back(Int("p" + std::to_string(i), 0, 1'000'000));
  const Space space = MakeSpace(parameters);
  const auto asked = NewGrid(space)->Suggest({}, {}, "", Rng(1), 3, {});
  ASSERT_THAT(asked, IsOk());
  EXPECT_EQ(asked->points[2].point.at("p99"), ParameterValue(std::int64_t{2}));
  EXPECT_THAT(
      NewGridOptimizer(MakeProblem(space), {.name = "grid", .options = {{"shuffle", true}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("algorithm.shuffle")));
}

TEST(GridOptimizer, NumbersItsCellsInTheNote) {
  const auto asked = NewGrid(MakeSpace({Int("a", 1, 4)}))
                         ->Suggest({}, {}, R"({"next":2,"seed":0})", Rng(1), 1, {});
  ASSERT_THAT(asked, IsOk());
  EXPECT_EQ(asked->points[0].note, "cell 3 of 4");
  EXPECT_EQ(asked->points[0].origin, "grid cell");
  EXPECT_EQ(asked->state, R"({"next":3,"seed":0})");
}

}  // namespace
}  // namespace vernier
