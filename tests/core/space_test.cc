#include "vernier/core/space.h"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

using ::vernier::testing::Int;
using ::vernier::testing::Text;

// depth is a grandchild of kind; its parents are listed after it.
Space SampleSpace() {
  auto space = Space::Create(
      {{.name = "depth",
        .domain = IntDomain{.lower = 1, .upper = 4},
        .when = {{.parent = "grow", .values = {true}}},
        .default_value = Int(2)},
       {.name = "lr", .domain = FloatDomain{.lower = 0, .upper = 1}, .default_value = 0.5},
       {.name = "grow",
        .domain = BoolDomain{},
        .when = {{.parent = "kind", .values = {Text("tree"), Text("forest")}}},
        .default_value = true},
       {.name = "kind",
        .domain = CategoricalDomain{{Text("tree"), Text("forest"), Text("line")}},
        .default_value = Text("tree")}},
      {"lr * depth <= 2"});
  EXPECT_THAT(space, IsOk());
  return *std::move(space);
}

TEST(Space, NamesMayBeAnyTextAndBackquotesNameThem) {
  const auto space = Space::Create({{.name = "hidden layers", .domain = IntDomain{1, 9}},
                                    {.name = "Größe [1]", .domain = IntDomain{1, 9}}},
                                   {"`hidden layers` < `Größe [1]`"});
  ASSERT_THAT(space, IsOk());
  const auto at = [](std::int64_t a, std::int64_t b) {
    return Point{{"hidden layers", a}, {"Größe [1]", b}};
  };
  EXPECT_TRUE(space->Satisfies(at(1, 2)));
  EXPECT_FALSE(space->Satisfies(at(2, 2)));
}

TEST(Space, EmptySpaceHasOnePoint) {
  const Space space;
  EXPECT_THAT(space.Check({}), IsOk());
  EXPECT_EQ(space.Cardinality(), 1);
  EXPECT_EQ(space.Key({}), "");
  EXPECT_EQ(space.DefaultPoint(), Point());
  EXPECT_THAT(space.parameters(), IsEmpty());
  ASSERT_OK_AND_ASSIGN(const Space created, Space::Create({}));
  EXPECT_EQ(created, space);
}

TEST(Space, OrdersParentsBeforeChildrenAndElseAsGiven) {
  EXPECT_THAT(SampleSpace().parents_first(), ElementsAre(1, 3, 2, 0));
}

TEST(Space, FindsParametersByName) {
  const Space space = SampleSpace();
  EXPECT_EQ(space.Find("lr"), 1);
  EXPECT_EQ(space.Find("l"), std::nullopt);
}

TEST(Space, KnowsWhoIsActive) {
  const Space space = SampleSpace();
  const auto active = [&space](const Point& point) {
    std::vector<int> indices;
    for (int i = 0; i < 4; ++i) {
      if (space.IsActive(i, point)) indices.push_back(i);
    }
    return indices;
  };
  EXPECT_THAT(active({{"kind", Text("line")}}), ElementsAre(1, 3));
  EXPECT_THAT(active({{"kind", Text("forest")}}), ElementsAre(1, 2, 3));
  EXPECT_THAT(active({{"kind", Text("tree")}, {"grow", false}}), ElementsAre(1, 2, 3));
  EXPECT_THAT(active({{"kind", Text("tree")}, {"grow", true}}), ElementsAre(0, 1, 2, 3));
}

struct CheckCase {
  std::string name;
  Point point;
  std::string error;  // "" = OK.
};

class SpaceCheck : public ::testing::TestWithParam<CheckCase> {};

TEST_P(SpaceCheck, AcceptsOrExplains) {
  const absl::Status status = SampleSpace().Check(GetParam().point);
  EXPECT_EQ(std::string(status.message()), GetParam().error);
  if (status.ok()) return;
  EXPECT_EQ(GetField(status), GetParam().error.substr(0, GetParam().error.find(": ")));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    SpaceCheck,
    ::testing::ValuesIn(std::vector<CheckCase>{
        {"Line", {{"lr", 1.0}, {"kind", Text("line")}}, ""},
        {"Tree", {{"lr", 0.5}, {"kind", Text("tree")}, {"grow", true}, {"depth", Int(4)}}, ""},
        {"Unknown",
         {{"lrr", 1.0}, {"kind", Text("line")}},
         "point.lrr: no such parameter; did you mean 'lr'?"},
        {"Missing", {{"kind", Text("line")}}, "point.lr: must have a value"},
        {"MissingChild", {{"lr", 1.0}, {"kind", Text("tree")}}, "point.grow: must have a value"},
        {"TooLarge", {{"lr", 1.5}, {"kind", Text("line")}}, "point.lr: must be at most 1, got 1.5"},
        {"WrongKind",
         {{"lr", Int(1)}, {"kind", Text("line")}},
         "point.lr: must be a number, got an integer (1)"},
        {"Inactive",
         {{"lr", 1.0}, {"kind", Text("line")}, {"grow", true}},
         "point.grow: is active only with kind = tree or forest"},
        {"InactiveGrandchild",
         {{"lr", 1.0}, {"kind", Text("tree")}, {"grow", false}, {"depth", Int(1)}},
         "point.depth: is active only with grow = true"},
        {"Constraint",
         {{"lr", 1.0}, {"kind", Text("tree")}, {"grow", true}, {"depth", Int(3)}},
         "constraints[0]: 'lr * depth <= 2' does not hold at depth=3 grow=true kind=tree lr=1"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(Space, SatisfiesConstraintsOverInactiveParameters) {
  const Space space = SampleSpace();
  EXPECT_TRUE(space.Satisfies({{"lr", 1.0}, {"kind", Text("line")}}));
  EXPECT_FALSE(
      space.Satisfies({{"lr", 1.0}, {"kind", Text("tree")}, {"grow", true}, {"depth", Int(3)}}));
}

TEST(Space, GivesNumbersTheirKindAndLeavesTheRestToCheck) {
  const Space space = SampleSpace();
  const Point given = {
      {"lr", Int(1)}, {"depth", 2.0}, {"grow", true}, {"kind", Text("tree")}, {"odd", Int(3)}};
  const Point expected = {
      {"lr", 1.0}, {"depth", Int(2)}, {"grow", true}, {"kind", Text("tree")}, {"odd", Int(3)}};
  EXPECT_EQ(space.InKind(given), expected);
  const Point lossy = {{"lr", Int((std::int64_t{1} << 53) + 1)}, {"depth", 2.5}, {"kind", Int(7)}};
  EXPECT_EQ(space.InKind(lossy), lossy);
}

TEST(Space, MovesValuesOntoTheGridOfAStepThatMissItByARoundingError) {
  const Space space = *Space::Create({
      {.name = "x", .domain = FloatDomain{.lower = 0, .upper = 1, .step = 0.1}},
      {.name = "fine", .domain = FloatDomain{.lower = -1, .upper = 1e6, .step = 1e-3}},
      {.name = "free", .domain = FloatDomain{.lower = 0, .upper = 1}},
  });
  const Point given = {{"x", 3 * 0.1}, {"fine", 1234.567 + 1e-12}, {"free", 3 * 0.1}};
  const Point expected = {{"x", 0.3}, {"fine", 1234.567}, {"free", 3 * 0.1}};
  ASSERT_NE(given, expected);
  EXPECT_EQ(space.InKind(given), expected);
  EXPECT_TRUE(space.Check(expected).ok());
  const double above = std::nextafter(1.0, 2.0);
  EXPECT_EQ(space.InKind({{"x", above}}), (Point{{"x", 1.0}}));
  for (const double off : {0.3 + 1e-9, 0.35, 1.1, -0.1, std::nan(""), HUGE_VAL}) {
    const Point point = {{"x", off}, {"fine", 0.0}, {"free", 0.0}};
    EXPECT_FALSE(space.Check(space.InKind(point)).ok()) << off;
  }
}

TEST(Space, DefaultPointFollowsTheConditions) {
  const Point expected = {{"lr", 0.5}, {"kind", Text("tree")}, {"grow", true}, {"depth", Int(2)}};
  EXPECT_EQ(SampleSpace().DefaultPoint(), expected);
}

TEST(Space, DefaultPointNeedsEveryActiveDefaultAndTheConstraints) {
  const Parameter with = {
      .name = "a", .domain = IntDomain{.lower = 0, .upper = 9}, .default_value = Int(3)};
  const Parameter without = {.name = "b", .domain = IntDomain{.lower = 0, .upper = 9}};
  ASSERT_OK_AND_ASSIGN(const Space partly, Space::Create({with, without}));
  EXPECT_EQ(partly.DefaultPoint(), std::nullopt);
  ASSERT_OK_AND_ASSIGN(const Space forbidden, Space::Create({with}, {"a > 3"}));
  EXPECT_EQ(forbidden.DefaultPoint(), std::nullopt);
}

TEST(Space, KeyIsReadableAndInParameterOrder) {
  const Space space = SampleSpace();
  EXPECT_EQ(space.Key({{"lr", 0.25}, {"kind", Text("line")}}), "lr=0.25 kind='line'");
  EXPECT_EQ(space.Key({{"lr", -0.0}, {"kind", Text("line")}}),
            space.Key({{"lr", 0.0}, {"kind", Text("line")}}));
}

TEST(Space, KeyTellsAwkwardTextApart) {
  const std::vector<std::string> texts = {"", " ", "'", "\\", "\\'", "a' b='c", "a", "a ", "c"};
  CategoricalDomain domain;
  for (const std::string& text : texts) domain.values.emplace_back(text);
  ASSERT_OK_AND_ASSIGN(
      const Space space,
      Space::Create({{.name = "a", .domain = domain}, {.name = "b", .domain = domain}}));
  std::set<std::string> keys;
  for (const std::string& a : texts) {
    for (const std::string& b : texts) keys.insert(space.Key({{"a", a}, {"b", b}}));
  }
  EXPECT_EQ(keys.size(), texts.size() * texts.size());
}

TEST(Space, KeysAreEqualExactlyForEqualPoints) {
  const Space space = SampleSpace();
  Rng rng(4);
  std::map<std::string, Point> seen;
  for (int i = 0; i < 5000; ++i) {
    // Coarse coordinates, so that points recur.
    std::vector<double> u;
    for (int k = 0; k < 4; ++k) u.push_back(static_cast<double>(rng.UniformInt(5)) / 4);
    const Point point = DecodePoint(space, u);
    const auto [entry, inserted] = seen.emplace(space.Key(point), point);
    EXPECT_EQ(entry->second, point);
  }
  std::set<Point> points;
  for (const auto& [key, point] : seen) points.insert(point);
  EXPECT_EQ(points.size(), seen.size());
  EXPECT_GT(points.size(), 20u);
}

TEST(Space, ComparesByDefinition) {
  EXPECT_EQ(SampleSpace(), SampleSpace());
  const Space copy = SampleSpace();
  const Space other = copy;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy, other);
  ASSERT_OK_AND_ASSIGN(const Space unconstrained, Space::Create(SampleSpace().parameters()));
  EXPECT_FALSE(SampleSpace() == unconstrained);
  EXPECT_FALSE(SampleSpace() == Space());
}

}  // namespace
}  // namespace vernier
