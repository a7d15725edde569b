#include "vernier/core/unit_cube.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::vernier::testing::IsOk;
using ::vernier::testing::kMaxInt;
using ::vernier::testing::kMinInt;

struct CubeCase {
  std::string name;
  Domain domain;
  bool equal_shares = false;
};

std::vector<CubeCase> FiniteDomains() {
  const auto text = [](const char* value) { return ParameterValue(std::string(value)); };
  return {
      {"Int", IntDomain{.lower = -3, .upper = 9}, true},
      {"OneInt", IntDomain{.lower = 5, .upper = 5}, true},
      {"SteppedInt", IntDomain{.lower = 1, .upper = 30, .step = 7}, true},
      {"LogInt", IntDomain{.lower = 1, .upper = 1000, .scale = Scale::kLog}},
      {"ReverseLogInt", IntDomain{.lower = 1, .upper = 1000, .scale = Scale::kReverseLog}},
      {"SteppedLogInt", IntDomain{.lower = 1, .upper = 99, .scale = Scale::kLog, .step = 7}},
      {"OneLogInt", IntDomain{.lower = 4, .upper = 4, .scale = Scale::kLog}},
      {"SteppedFloat", FloatDomain{.lower = 0, .upper = 0.5, .step = 0.1}, true},
      {"SteppedFloatMissingUpper", FloatDomain{.lower = -1, .upper = 1, .step = 0.3}, true},
      {"SteppedFloatOfThirds", FloatDomain{.lower = 0, .upper = 1, .step = 1.0 / 3}, true},
      {"SteppedLogFloat",
       FloatDomain{.lower = 0.1, .upper = 2, .scale = Scale::kLog, .step = 0.05}},
      {"SteppedReverseLogFloat",
       FloatDomain{.lower = 0.1, .upper = 2, .scale = Scale::kReverseLog, .step = 0.05}},
      {"OneFloat", FloatDomain{.lower = 0.7, .upper = 0.7}, true},
      {"OneLogFloat", FloatDomain{.lower = 0.7, .upper = 0.7, .scale = Scale::kLog}},
      {"Discrete", DiscreteDomain{{-1, 0.5, 16, 1000}}, true},
      {"Categorical", CategoricalDomain{{text("a"), std::int64_t{2}, 0.5, true}}, true},
      {"Bool", BoolDomain{}, true},
  };
}

Parameter Of(Domain domain) { return {.name = "p", .domain = std::move(domain)}; }

class FiniteDomain : public ::testing::TestWithParam<CubeCase> {};
INSTANTIATE_TEST_SUITE_P(Kinds,
                         FiniteDomain,
                         ::testing::ValuesIn(FiniteDomains()),
                         [](const auto& row) { return row.param.name; });

TEST_P(FiniteDomain, EveryValueIsLegalDistinctAndFoundAgain) {
  const Parameter parameter = Of(GetParam().domain);
  const auto space = Space::Create({parameter});
  ASSERT_THAT(space, IsOk());
  std::map<ParameterValue, std::int64_t> seen;
  for (std::int64_t i = 0; i < *ValueCount(parameter); ++i) {
    const ParameterValue value = ValueAt(parameter, i);
    EXPECT_THAT(space->Check({{"p", value}}), IsOk()) << i;
    EXPECT_TRUE(seen.emplace(value, i).second) << FormatValue(value);
    EXPECT_EQ(IndexOf(parameter, value), i);
  }
  EXPECT_EQ(space->Cardinality(), static_cast<std::int64_t>(seen.size()));
}

TEST_P(FiniteDomain, CoordinatesAreInsideAscendAndLeadBack) {
  const Parameter parameter = Of(GetParam().domain);
  double last = 0;
  for (std::int64_t i = 0; i < *ValueCount(parameter); ++i) {
    const ParameterValue value = ValueAt(parameter, i);
    const double u = ToUnit(parameter, value);
    EXPECT_GT(u, last) << FormatValue(value);
    EXPECT_LT(u, 1);
    EXPECT_EQ(FromUnit(parameter, u), value) << FormatValue(value) << " at " << u;
    last = u;
  }
}

TEST_P(FiniteDomain, TheEndsAreTheFirstAndTheLastValue) {
  const Parameter parameter = Of(GetParam().domain);
  const ParameterValue first = ValueAt(parameter, 0);
  const ParameterValue last = ValueAt(parameter, *ValueCount(parameter) - 1);
  EXPECT_EQ(FromUnit(parameter, 0), first);
  EXPECT_EQ(FromUnit(parameter, 1), last);
  EXPECT_EQ(FromUnit(parameter, -7), first);
  EXPECT_EQ(FromUnit(parameter, 7), last);
  EXPECT_EQ(FromUnit(parameter, std::nan("")), first);
}

TEST_P(FiniteDomain, UniformCoordinatesGiveEqualSharesWherePromised) {
  const Parameter parameter = Of(GetParam().domain);
  constexpr int kDraws = 20000;
  Rng rng(31);
  std::map<ParameterValue, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[FromUnit(parameter, rng.Uniform())];
  const double count = static_cast<double>(*ValueCount(parameter));
  if (!GetParam().equal_shares) {
    EXPECT_LE(counts.size(), static_cast<std::size_t>(count));
    return;
  }
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(count));
  for (const auto& [value, seen] : counts) {
    EXPECT_NEAR(seen, kDraws / count, 5 * std::sqrt(kDraws / count)) << FormatValue(value);
  }
}

TEST(UnitCube, LogIntegersGetTheShareOfTheirPaddedLogarithm) {
  const Parameter parameter = Of(IntDomain{.lower = 1, .upper = 64, .scale = Scale::kLog});
  constexpr int kDraws = 40000;
  Rng rng(32);
  std::map<ParameterValue, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[FromUnit(parameter, rng.Uniform())];
  for (std::int64_t x = 1; x <= 64; ++x) {
    const auto value = static_cast<double>(x);
    const double expected = kDraws * std::log((value + 0.5) / (value - 0.5)) / std::log(64.5 / 0.5);
    EXPECT_NEAR(counts[x], expected, 5 * std::sqrt(expected)) << x;
  }
}

TEST(UnitCube, FollowsTheFormulaeOfItsHeader) {
  const Parameter integer = Of(IntDomain{.lower = 2, .upper = 6});
  EXPECT_DOUBLE_EQ(ToUnit(integer, std::int64_t{3}), (3 - 2 + 0.5) / (6 - 2 + 1));
  const Parameter stepped = Of(FloatDomain{.lower = 0, .upper = 0.5, .step = 0.1});
  EXPECT_DOUBLE_EQ(ToUnit(stepped, 0.3), (0.3 + 0.05) / (0.5 + 0.1));
  const Parameter log = Of(FloatDomain{.lower = 1e-4, .upper = 1, .scale = Scale::kLog});
  EXPECT_DOUBLE_EQ(ToUnit(log, 0.01), 0.5);
  const Parameter reverse = Of(FloatDomain{.lower = 1e-4, .upper = 1, .scale = Scale::kReverseLog});
  EXPECT_NEAR(ToUnit(reverse, 1 + 1e-4 - 0.01), 0.5, 1e-12);
  const Parameter log_int = Of(IntDomain{.lower = 1, .upper = 64, .scale = Scale::kLog});
  EXPECT_DOUBLE_EQ(ToUnit(log_int, std::int64_t{8}),
                   (std::log(8.0) - std::log(0.5)) / (std::log(64.5) - std::log(0.5)));
}

TEST(UnitCube, GridValuesAreTheDecimalsThatAUserWouldWrite) {
  const Parameter tenths = Of(FloatDomain{.lower = 0, .upper = 1, .step = 0.1});
  std::string texts;
  for (std::int64_t i = 0; i < 11; ++i) texts += FormatValue(ValueAt(tenths, i)) + " ";
  EXPECT_EQ(texts, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 ");
  const Parameter tiny = Of(FloatDomain{.lower = 1e-5, .upper = 5e-5, .step = 1e-5});
  EXPECT_EQ(ValueAt(tiny, 2), ParameterValue(3e-5));
  const Parameter large = Of(FloatDomain{.lower = 1e20, .upper = 3e20, .step = 1e20});
  EXPECT_EQ(ValueAt(large, 2), ParameterValue(3e20));
}

class ContinuousFloat : public ::testing::TestWithParam<CubeCase> {};
INSTANTIATE_TEST_SUITE_P(
    Scales,
    ContinuousFloat,
    ::testing::ValuesIn(std::vector<CubeCase>{
        {"Linear", FloatDomain{.lower = -3, .upper = 7}},
        {"LinearWide", FloatDomain{.lower = -8e307, .upper = 8e307}},
        {"Log", FloatDomain{.lower = 1e-5, .upper = 0.1, .scale = Scale::kLog}},
        {"LogWide", FloatDomain{.lower = 1e-300, .upper = 1e300, .scale = Scale::kLog}},
        {"ReverseLog", FloatDomain{.lower = 0.001, .upper = 1, .scale = Scale::kReverseLog}},
    }),
    [](const auto& row) { return row.param.name; });

TEST_P(ContinuousFloat, RoundTripsWithinRoundingAndStaysInside) {
  const Parameter parameter = Of(GetParam().domain);
  const auto& domain = std::get<FloatDomain>(GetParam().domain);
  EXPECT_EQ(ValueCount(parameter), std::nullopt);
  Rng rng(33);
  double last = domain.lower;
  for (int i = 0; i <= 1000; ++i) {
    const double u = i == 1000 ? 1 : (i + rng.Uniform()) / 1001;
    const double x = std::get<double>(FromUnit(parameter, u));
    EXPECT_GE(x, last) << "not monotone at " << u;
    EXPECT_LE(x, domain.upper);
    EXPECT_NEAR(ToUnit(parameter, x), u, 1e-12);
    const double again = std::get<double>(FromUnit(parameter, ToUnit(parameter, x)));
    EXPECT_NEAR(again, x, 1e-12 * std::max(std::abs(domain.lower), std::abs(domain.upper)));
    last = x;
  }
}

TEST_P(ContinuousFloat, BoundsAreTheEndsOfTheUnitInterval) {
  const Parameter parameter = Of(GetParam().domain);
  const auto& domain = std::get<FloatDomain>(GetParam().domain);
  EXPECT_NEAR(ToUnit(parameter, domain.lower), 0, 1e-15);
  EXPECT_NEAR(ToUnit(parameter, domain.upper), 1, 1e-15);
  EXPECT_EQ(FromUnit(parameter, 0), ParameterValue(domain.lower));
  EXPECT_EQ(FromUnit(parameter, 1), ParameterValue(domain.upper));
}

TEST(UnitCube, RangesOfAllIntegersNeitherOverflowNorLeaveTheRange) {
  const Parameter all = Of(IntDomain{.lower = kMinInt, .upper = kMaxInt});
  EXPECT_EQ(ValueCount(all), std::nullopt);
  EXPECT_EQ(FromUnit(all, 0), ParameterValue(kMinInt));
  EXPECT_EQ(FromUnit(all, 1), ParameterValue(kMaxInt));
  EXPECT_NEAR(ToUnit(all, kMinInt), 0, 1e-15);
  EXPECT_NEAR(ToUnit(all, std::int64_t{0}), 0.5, 1e-15);
  EXPECT_NEAR(ToUnit(all, kMaxInt), 1, 1e-15);
  const Parameter log = Of(IntDomain{.lower = 1, .upper = kMaxInt, .scale = Scale::kLog});
  EXPECT_EQ(FromUnit(log, 0), ParameterValue(std::int64_t{1}));
  EXPECT_EQ(FromUnit(log, 1), ParameterValue(kMaxInt));
  EXPECT_NEAR(ToUnit(log, std::int64_t{1} << 31), 0.5, 0.01);
  Rng rng(34);
  const auto space = Space::Create({all});
  ASSERT_THAT(space, IsOk());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_THAT(space->Check({{"p", FromUnit(all, rng.Uniform())}}), IsOk());
  }
}

TEST(UnitCube, LargeRangesRoundTrip) {
  for (const Scale scale : {Scale::kLinear, Scale::kLog, Scale::kReverseLog}) {
    const Parameter parameter =
        Of(IntDomain{.lower = 1, .upper = std::int64_t{1} << 40, .scale = scale});
    Rng rng(35);
    for (int i = 0; i < 2000; ++i) {
      const auto x = static_cast<std::int64_t>(1 + rng.UniformInt(std::uint64_t{1} << 40));
      EXPECT_EQ(FromUnit(parameter, ToUnit(parameter, x)), ParameterValue(x));
    }
  }
}

Space Conditional() {
  auto space = Space::Create({{.name = "m",
                               .domain = FloatDomain{.lower = 0, .upper = 10},
                               .when = {{.parent = "on", .values = {true}}}},
                              {.name = "on", .domain = BoolDomain{}},
                              {.name = "n", .domain = IntDomain{.lower = 1, .upper = 4}}});
  EXPECT_THAT(space, IsOk());
  return *std::move(space);
}

TEST(UnitCube, DecodesParentsFirstAndIgnoresInactiveCoordinates) {
  const Space space = Conditional();
  const Point off = {{"on", false}, {"n", std::int64_t{3}}};
  EXPECT_EQ(DecodePoint(space, std::vector<double>{0.3, 0.2, 0.6}), off);
  EXPECT_EQ(DecodePoint(space, std::vector<double>{0.9, 0.2, 0.6}), off);
  const Point on = {{"on", true}, {"n", std::int64_t{3}}, {"m", 3.0}};
  EXPECT_EQ(DecodePoint(space, std::vector<double>{0.3, 0.8, 0.6}), on);
}

TEST(UnitCube, EncodesWhatIsActive) {
  const Space space = Conditional();
  EXPECT_THAT(EncodePoint(space, {{"on", true}, {"n", std::int64_t{1}}, {"m", 2.5}}),
              ElementsAre(Optional(0.25), Optional(0.75), Optional(0.125)));
  EXPECT_THAT(EncodePoint(space, {{"on", false}, {"n", std::int64_t{1}}}),
              ElementsAre(std::nullopt, Optional(0.25), Optional(0.125)));
}

TEST(UnitCubeDeathTest, BrokenPromisesAreBugs) {
  const Parameter integer = Of(IntDomain{.lower = 0, .upper = 3});
  EXPECT_DEATH(ValueAt(integer, 4), "no such value");
  EXPECT_DEATH(ValueAt(Of(BoolDomain{}), -1), "no such value");
  EXPECT_DEATH(ValueAt(Of(FloatDomain{}), 0), "a continuous float has no i-th value");
  EXPECT_DEATH(IndexOf(integer, std::int64_t{9}), "not legal for its parameter");
  EXPECT_DEATH(DecodePoint(Conditional(), std::vector<double>{0.5}), "one coordinate");
}

// Neighbours of a number are near, any two categories a distance of 1 apart, and what is inactive in the middle.
TEST(EmbedPoint, GivesCoordinatesWhoseDistancesMeanSomething) {
  const Space space =
      Space::Create(
          {{.name = "lr", .domain = FloatDomain{.lower = 1e-4, .upper = 1, .scale = Scale::kLog}},
           {.name = "opt",
            .domain =
                CategoricalDomain{{std::string("sgd"), std::string("adam"), std::string("lion")}}},
           {.name = "momentum",
            .domain = FloatDomain{.lower = 0, .upper = 1},
            .when = {{.parent = "opt", .values = {std::string("sgd")}}}},
           {.name = "nesterov", .domain = BoolDomain{}}})
          .value();
  const auto at = [&](const char* opt, bool nesterov) {
    Point point = {{"lr", 1e-2}, {"opt", std::string(opt)}, {"nesterov", nesterov}};
    if (opt == std::string("sgd")) point["momentum"] = 0.5;
    return EmbedPoint(space, point);
  };
  const auto distance = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
  };
  ASSERT_EQ(at("sgd", true).size(), 1 + 3 + 1 + 2);
  EXPECT_NEAR(at("sgd", true)[0], 0.5, 1e-12);
  EXPECT_NEAR(distance(at("sgd", true), at("adam", true)), 1, 1e-12);
  EXPECT_NEAR(distance(at("lion", true), at("adam", true)), 1, 1e-12);
  EXPECT_NEAR(distance(at("adam", false), at("adam", true)), 1, 1e-12);
  const std::vector<double> unknown = EmbedPoint(space, {});
  EXPECT_NEAR(distance(unknown, at("sgd", true)), distance(unknown, at("lion", true)), 1e-12);
}

}  // namespace
}  // namespace vernier
