#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"
#include "vernier/core/space.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

using ::vernier::testing::IsOk;

Parameter Int(std::string name, std::int64_t upper, std::vector<Condition> when = {}) {
  return {.name = std::move(name),
          .domain = IntDomain{.lower = 0, .upper = upper},
          .when = std::move(when)};
}
Condition When(std::string parent, std::vector<std::int64_t> values) {
  Condition when{.parent = std::move(parent), .values = {}};
  for (const std::int64_t value : values) when.values.emplace_back(value);
  return when;
}

// Visits the points one by one.
std::int64_t BruteForce(const Space& space) {
  const std::span<const int> order = space.parents_first();
  Point point;
  const std::function<std::int64_t(std::size_t)> count = [&](std::size_t k) -> std::int64_t {
    if (k == order.size()) return 1;
    if (!space.IsActive(order[k], point)) return count(k + 1);
    const Parameter& parameter = space.parameters()[static_cast<std::size_t>(order[k])];
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < *ValueCount(parameter); ++i) {
      point[parameter.name] = ValueAt(parameter, i);
      sum += count(k + 1);
    }
    point.erase(parameter.name);
    return sum;
  };
  return count(0);
}

void ExpectCount(std::vector<Parameter> parameters, std::optional<std::int64_t> expected) {
  const auto space = Space::Create(std::move(parameters));
  ASSERT_THAT(space, IsOk());
  EXPECT_EQ(space->Cardinality(), expected);
}

TEST(Cardinality, MultipliesIndependentParameters) {
  ExpectCount({Int("a", 2), Int("b", 4), {.name = "c", .domain = BoolDomain{}}}, 30);
}

TEST(Cardinality, IsUnknownWithAContinuousFloatButNotWithASteppedOne) {
  ExpectCount({{.name = "a", .domain = FloatDomain{}}}, std::nullopt);
  ExpectCount({{.name = "a", .domain = FloatDomain{.step = 0.1}}}, 11);
  ExpectCount({{.name = "a", .domain = FloatDomain{.lower = 2, .upper = 2}}, Int("b", 1)}, 2);
}

TEST(Cardinality, CountsAChildOnlyWhereItIsActive) {
  ExpectCount({Int("a", 9), Int("b", 99, {When("a", {3, 4})})}, 8 + 2 * 100);
}

TEST(Cardinality, IgnoresAnInfiniteChildThatIsNeverActive) {
  // Its parents are two values of one parameter, which never has both.
  Parameter never = {
      .name = "x", .domain = FloatDomain{}, .when = {When("a", {0}), When("a", {1})}};
  ExpectCount({Int("a", 2), never}, 3);
  Parameter sometimes = {.name = "x", .domain = FloatDomain{}, .when = {When("a", {0})}};
  ExpectCount({Int("a", 2), sometimes}, std::nullopt);
}

TEST(Cardinality, StopsAtTwoToThe62) {
  const std::int64_t big = (std::int64_t{1} << 31) - 1;
  ExpectCount({Int("a", big), Int("b", big)}, std::int64_t{1} << 62);
  ExpectCount({Int("a", big), Int("b", big + 1)}, std::nullopt);
  ExpectCount({Int("a", big), Int("b", big), Int("c", 1)}, std::nullopt);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  ExpectCount({{.name = "a", .domain = IntDomain{.lower = -huge, .upper = huge}}}, std::nullopt);
  // Branches that overflow only together. The sum of the second pair is no 64-bit number.
  ExpectCount({Int("s", 1), Int("a", (std::int64_t{1} << 62) - 1, {When("s", {0})})}, std::nullopt);
  const std::int64_t most = (std::int64_t{1} << 62) - 1;
  ExpectCount({Int("s", 1), Int("a", most, {When("s", {0})}), Int("b", most, {When("s", {1})})},
              std::nullopt);
}

TEST(Cardinality, CountsAWideTreeWithoutWalkingIt) {
  std::vector<Parameter> parameters = {Int("root", 1)};
  std::int64_t expected = 1;
  for (int i = 0; i < 30; ++i) {
    parameters.push_back(Int("c" + std::to_string(i), 1, {When("root", {1})}));
    parameters.push_back(Int("g" + std::to_string(i), 1, {When("c" + std::to_string(i), {0})}));
    if (i < 30) expected = i == 0 ? 3 : expected * 3;
  }
  ExpectCount(parameters, expected + 1);
}

TEST(Cardinality, GivesUpOnConditionsTooEntangledToCount) {
  // Each pair of parents has a child of its own, so that the rest hangs together whichever is fixed. There are 2^40
  // points, few enough for a number.
  std::vector<Parameter> parameters;
  for (int i = 0; i < 40; ++i) parameters.push_back(Int(fmt::format("p{}", i), 1));
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < i; ++j) {
      const std::vector<Condition> both = {When(fmt::format("p{}", i), {0}),
                                           When(fmt::format("p{}", j), {0})};
      parameters.push_back(Int(fmt::format("q{}.{}", i, j), 0, both));
    }
  }
  ExpectCount(parameters, std::nullopt);
}

// Random spaces with one to three conditions a parameter, several levels deep, on shared parents.
TEST(Cardinality, AgreesWithBruteForceOnRandomConditionalSpaces) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng = Rng(99).Fork(seed);
    std::vector<Parameter> parameters;
    const auto size = static_cast<int>(2 + rng.UniformInt(6));
    for (int i = 0; i < size; ++i) {
      Parameter parameter =
          Int("p" + std::to_string(i), static_cast<std::int64_t>(rng.UniformInt(4)));
      for (std::uint64_t c = i == 0 ? 0 : rng.UniformInt(4); c > 0; --c) {
        const std::size_t parent = rng.UniformInt(static_cast<std::uint64_t>(i));
        const std::int64_t count = *ValueCount(parameters[parent]);
        std::vector<std::int64_t> values;
        for (std::int64_t v = 0; v < count; ++v) {
          if (rng.UniformInt(2) == 0) values.push_back(v);
        }
        if (values.empty()) values.push_back(count - 1);
        parameter.when.push_back(When(parameters[parent].name, values));
      }
      parameters.push_back(std::move(parameter));
    }
    const auto space = Space::Create(parameters);
    ASSERT_THAT(space, IsOk()) << "seed " << seed;
    EXPECT_EQ(space->Cardinality(), BruteForce(*space)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace vernier
