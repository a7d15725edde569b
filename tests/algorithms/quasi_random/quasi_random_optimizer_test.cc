#include "algorithms/quasi_random/quasi_random_optimizer.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::vernier::testing::Bool;
using ::vernier::testing::Completed;
using ::vernier::testing::Float;
using ::vernier::testing::Int;
using ::vernier::testing::IsOk;
using ::vernier::testing::Log;
using ::vernier::testing::MakeProblem;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::StatusIs;

using Options = std::map<std::string, ParameterValue>;

std::unique_ptr<Optimizer> NewQuasiRandom(const Space& space, const Options& options = {}) {
  return NewQuasiRandomOptimizer(MakeProblem(space), {.name = "quasi-random", .options = options})
      .value();
}

Space UnitSquare() { return MakeSpace({Float("x", 0, 1), Float("y", 0, 1)}); }

// The first points, asked for `batch` at a time with a stream of its own for each call.
std::vector<Point> FirstPoints(const Space& space,
                               const Optimizer& optimizer,
                               std::size_t n,
                               std::size_t batch) {
  std::vector<Point> points;
  std::vector<Observation> finished;
  std::string state;
  while (points.size() < n) {
    const Rng stream = Rng(3).Fork(points.size() + 1);
    const Suggestions asked =
        optimizer.Suggest(Log(space, finished), {}, state, stream, batch, {}).value();
    for (const Suggestion& suggestion : asked.points) {
      points.push_back(suggestion.point);
      finished.push_back(Completed(static_cast<std::int64_t>(points.size()), suggestion.point, 0));
    }
    state = asked.state;
  }
  return points;
}

TEST(QuasiRandomOptimizer, PutsOnePointInEachBoxOfTheUnitSquare) {
  std::set<std::pair<int, int>> boxes;
  for (const Point& point : FirstPoints(UnitSquare(), *NewQuasiRandom(UnitSquare()), 64, 1)) {
    boxes.emplace(static_cast<int>(std::get<double>(point.at("x")) * 8),
                  static_cast<int>(std::get<double>(point.at("y")) * 8));
  }
  EXPECT_THAT(boxes, SizeIs(64));
}

TEST(QuasiRandomOptimizer, ContinuesItsSequenceHoweverItIsAsked) {
  const auto optimizer = NewQuasiRandom(UnitSquare());
  EXPECT_EQ(FirstPoints(UnitSquare(), *optimizer, 24, 1),
            FirstPoints(UnitSquare(), *optimizer, 24, 8));
}

TEST(QuasiRandomOptimizer, ScramblesByItsSeedOrElseByTheFirstStream) {
  const Options seeded = {{"seed", std::int64_t{4}}};
  const auto first = [](const Optimizer& optimizer, std::uint64_t stream) {
    return optimizer.Suggest({}, {}, "", Rng(stream), 1, {}).value().points[0].point;
  };
  EXPECT_EQ(first(*NewQuasiRandom(UnitSquare(), seeded), 1),
            first(*NewQuasiRandom(UnitSquare(), seeded), 2));
  EXPECT_NE(first(*NewQuasiRandom(UnitSquare()), 1), first(*NewQuasiRandom(UnitSquare()), 2));
  EXPECT_EQ(NewQuasiRandom(UnitSquare(), seeded)->options(), R"({"seed":4})");
  EXPECT_EQ(NewQuasiRandom(UnitSquare())->options(), R"({"seed":null})");
}

TEST(QuasiRandomOptimizer, GivesEveryValueOfAnIntegerItsShare) {
  std::map<std::string, int> counts;
  const Space space = MakeSpace({Int("n", 0, 7), Float("x", 0, 1)});
  for (const Point& point : FirstPoints(space, *NewQuasiRandom(space), 64, 1))
    ++counts[FormatValue(point.at("n"))];
  EXPECT_THAT(counts, SizeIs(8));
  EXPECT_THAT(counts, Each(::testing::Pair(::testing::_, 8)));
}

TEST(QuasiRandomOptimizer, KeepsSuggestingWhereTheSequenceRarelyMeetsTheConstraints) {
  const Space space = MakeSpace({Float("x", 0, 1), Float("y", 0, 1)}, {"x + y <= 0.0001"});
  const auto asked = NewQuasiRandom(space)->Suggest({}, {}, "", Rng(1), 3, {});
  ASSERT_THAT(asked, IsOk());
  for (const Suggestion& suggestion : asked->points) {
    EXPECT_THAT(space.Check(suggestion.point), IsOk());
    EXPECT_EQ(suggestion.origin, "random");
    EXPECT_THAT(suggestion.note, HasSubstr("sequence"));
  }
}

TEST(QuasiRandomOptimizer, RefusesANegativeSeed) {
  EXPECT_THAT(
      NewQuasiRandomOptimizer(MakeProblem(UnitSquare()),
                              {.name = "quasi-random", .options = {{"seed", std::int64_t{-1}}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("algorithm.seed")));
}

}  // namespace
}  // namespace vernier
