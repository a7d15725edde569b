#include "algorithms/sampling/enumeration.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"

namespace vernier::sampling {
namespace {

using ::testing::ElementsAre;
using ::vernier::testing::AllFeasibleKeys;
using ::vernier::testing::Bool;
using ::vernier::testing::Categorical;
using ::vernier::testing::Discrete;
using ::vernier::testing::Float;
using ::vernier::testing::Int;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::Stepped;
using ::vernier::testing::When;

std::vector<std::string> AllPoints(const Space& space) {
  const Enumeration all = Enumeration::OfAllValues(space).value();
  std::vector<std::string> points;
  for (std::int64_t i = 0; i < all.count(); ++i) points.push_back(FormatPoint(all.At(i)));
  return points;
}

void ExpectEachPointOnce(const Space& space) {
  const Enumeration all = Enumeration::OfAllValues(space).value();
  std::set<std::string> keys;
  for (std::int64_t i = 0; i < all.count(); ++i) {
    const Point point = all.At(i);
    EXPECT_TRUE(space.Check(point).ok()) << FormatPoint(point) << ": " << space.Check(point);
    EXPECT_TRUE(keys.insert(space.Key(point)).second) << FormatPoint(point);
  }
  EXPECT_EQ(keys, AllFeasibleKeys(space));
  EXPECT_EQ(all.count(), space.Cardinality());
}

TEST(Enumeration, OfASpaceWithoutParametersHasTheEmptyPoint) {
  const Enumeration all = Enumeration::OfAllValues(Space()).value();
  EXPECT_EQ(all.count(), 1);
  EXPECT_EQ(all.At(0), Point());
}

TEST(Enumeration, TurnsTheFirstWheelSlowest) {
  EXPECT_THAT(AllPoints(MakeSpace({Int("a", 1, 2), Discrete("b", {0.5, 7, 9})})),
              ElementsAre("a=1 b=0.5", "a=1 b=7", "a=1 b=9", "a=2 b=0.5", "a=2 b=7", "a=2 b=9"));
}

TEST(Enumeration, PutsChildrenRightAfterTheirParentAndSkipsInactiveOnes) {
  const Space space = MakeSpace({Categorical("a", {std::string("x"), std::string("y")}),
                                 Bool("b"),
                                 When(Int("c", 1, 2), "a", {std::string("y")})});
  EXPECT_THAT(AllPoints(space),
              ElementsAre("a=x b=false",
                          "a=x b=true",
                          "a=y b=false c=1",
                          "a=y b=true c=1",
                          "a=y b=false c=2",
                          "a=y b=true c=2"));
}

TEST(Enumeration, VisitsEachPointOfADeepTreeOnce) {
  ExpectEachPointOnce(
      MakeSpace({Int("depth", 1, 4),
                 When(Bool("residual"), "depth", {std::int64_t{2}, std::int64_t{4}}),
                 When(Discrete("gain", {0.1, 1}), "residual", {true}),
                 When(Categorical("init", {std::int64_t{1}, 2.5, false}), "gain", {0.1}),
                 Stepped("dropout", 0, 0.5, 0.25)}));
}

TEST(Enumeration, VisitsEachPointOnceWhereAParameterHasSeveralParents) {
  ExpectEachPointOnce(
      MakeSpace({When(When(Int("both", 1, 3), "left", {true}), "right", {false}),
                 Bool("left"),
                 Bool("right"),
                 When(When(Bool("below"), "both", {std::int64_t{2}}), "left", {true}),
                 When(Bool("other"), "left", {false})}));
}

TEST(Enumeration, CountsFarBeyondWhatCouldBeStored) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 40; ++i) {
    parameters.push_back(Bool("p" + std::to_string(i)));
    parameters.push_back(When(Int("c" + std::to_string(i), 0, 2), "p" + std::to_string(i), {true}));
  }
  const std::vector<Parameter> few(parameters.begin(), parameters.begin() + 40);
  const Enumeration four_to_the_20 = Enumeration::OfAllValues(MakeSpace(few)).value();
  EXPECT_EQ(four_to_the_20.count(), std::int64_t{1} << 40);

  const Space space = MakeSpace(parameters);  // 4^40 points.
  const Enumeration all = Enumeration::OfAllValues(space).value();
  EXPECT_EQ(all.count(), Enumeration::kMaxCount);
  EXPECT_TRUE(space.Check(all.At(all.count() - 1)).ok());
  EXPECT_NE(all.At(all.count() - 1), all.At(all.count() - 2));
}

TEST(Enumeration, TakesLargeIntegersWithoutListingThem) {
  const Space space =
      MakeSpace({Int("a", 0, 1'000'000'000'000), When(Bool("b"), "a", {std::int64_t{77}})});
  const Enumeration all = Enumeration::OfAllValues(space).value();
  EXPECT_EQ(all.count(), 1'000'000'000'002);
  EXPECT_EQ(FormatPoint(all.At(76)), "a=76");
  EXPECT_EQ(FormatPoint(all.At(77)), "a=77 b=false");
  EXPECT_EQ(FormatPoint(all.At(78)), "a=77 b=true");
  EXPECT_EQ(FormatPoint(all.At(all.count() - 1)), "a=1000000000000");
}

TEST(Enumeration, ClosesChildrenWhoseValueIsNotOnTheAxis) {
  const Space space = MakeSpace({Int("a", 1, 9), When(Bool("b"), "a", {std::int64_t{4}})});
  const Axis odd = ListedValues({std::int64_t{1}, std::int64_t{9}});
  const Enumeration cells =
      Enumeration::Create(space, {odd, AllValues(space.parameters()[1])}).value();
  EXPECT_EQ(cells.count(), 2);
  EXPECT_EQ(FormatPoint(cells.At(1)), "a=9");
}

TEST(Enumeration, NeedsNoValuesOfAParameterThatIsNeverActive) {
  const Space space = MakeSpace({Bool("a"),
                                 When(Bool("b"), "a", {true}),
                                 When(When(Float("never", 0, 1), "b", {true}), "a", {false})});
  EXPECT_EQ(Enumeration::OfAllValues(space).value().count(), 3);
  EXPECT_FALSE(Enumeration::OfAllValues(MakeSpace({Float("x", 0, 1)})).has_value());
}

TEST(Enumeration, RefusesConditionsThatAreTooEntangledToCount) {
  // Each child needs two switches that are far apart, so that nearly every setting of the switches is a case of its own.
  constexpr int kSwitches = 18;
  std::vector<Parameter> parameters;
  for (int i = 0; i < kSwitches; ++i) parameters.push_back(Bool("s" + std::to_string(i)));
  for (int i = 0; i < kSwitches; ++i) {
    for (int j = i + 1; j < kSwitches; ++j) {
      const std::string name = "c" + std::to_string(i) + "_" + std::to_string(j);
      parameters.push_back(
          When(When(Bool(name), "s" + std::to_string(i), {true}), "s" + std::to_string(j), {true}));
    }
  }
  EXPECT_FALSE(Enumeration::OfAllValues(MakeSpace(parameters)).has_value());
}

}  // namespace
}  // namespace vernier::sampling
