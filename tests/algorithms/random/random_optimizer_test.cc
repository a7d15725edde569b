#include "algorithms/random/random_optimizer.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::SizeIs;
using ::vernier::testing::Categorical;
using ::vernier::testing::Float;
using ::vernier::testing::Int;
using ::vernier::testing::MakeProblem;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::StatusIs;

std::unique_ptr<Optimizer> NewRandom(const Space& space) {
  return NewRandomOptimizer(MakeProblem(space), {.name = "random"}).value();
}

TEST(RandomOptimizer, DrawsUniformlyOnEachParametersScale) {
  const Space space = MakeSpace({Float("lr", 1e-5, 1e-1, Scale::kLog),
                                 Int("n", 1, 5),
                                 Categorical("c", {std::string("a"), std::string("b")})});
  const auto drawn = NewRandom(space)->Suggest({}, {}, "", Rng(11), 2000, {});
  ASSERT_THAT(drawn, testing::IsOk());
  ASSERT_THAT(drawn->points, SizeIs(2000));
  std::map<int, int> decades;
  std::map<std::string, int> counts;
  for (const Suggestion& suggestion : drawn->points) {
    ++decades[static_cast<int>(
        std::floor(std::log10(std::get<double>(suggestion.point.at("lr")))))];
    ++counts["n" + FormatValue(suggestion.point.at("n"))];
    ++counts[FormatValue(suggestion.point.at("c"))];
    EXPECT_EQ(suggestion.origin, "random");
  }
  // Within five standard deviations of their expectation.
  for (int decade = -5; decade < -1; ++decade) EXPECT_NEAR(decades[decade], 500, 97) << decade;
  for (const char* n : {"n1", "n2", "n3", "n4", "n5"}) EXPECT_NEAR(counts[n], 400, 90) << n;
  EXPECT_NEAR(counts["a"], 1000, 112);
}

TEST(RandomOptimizer, ReturnsFewerWhereTheSpaceHasNoMore) {
  const auto drawn = NewRandom(MakeSpace({Int("n", 1, 5)}))->Suggest({}, {}, "", Rng(1), 9, {});
  ASSERT_THAT(drawn, testing::IsOk());
  EXPECT_THAT(drawn->points, SizeIs(5));
}

TEST(RandomOptimizer, HasNoOptions) {
  EXPECT_THAT(
      NewRandomOptimizer(MakeProblem(MakeSpace({Int("n", 1, 5)})),
                         {.name = "random", .options = {{"seed", std::int64_t{3}}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "algorithm.seed: random has no options"));
}

}  // namespace
}  // namespace vernier
