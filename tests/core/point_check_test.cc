#include "src/core/point_check.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/core/values.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using testing::IsOk;
using testing::StatusIs;

using ::vernier::testing::Int;
using ::vernier::testing::Text;

// depth is a grandchild of kind.
Space Sample() {
  auto space =
      Space::Create({{.name = "lr", .domain = FloatDomain{.lower = 0, .upper = 1}},
                     {.name = "kind", .domain = CategoricalDomain{{Text("tree"), Text("line")}}},
                     {.name = "grow",
                      .domain = BoolDomain{},
                      .when = {{.parent = "kind", .values = {Text("tree")}}}},
                     {.name = "depth",
                      .domain = IntDomain{.lower = 1, .upper = 4},
                      .when = {{.parent = "grow", .values = {true}}}}},
                    {"lr * depth <= 2"});
  EXPECT_THAT(space, IsOk());
  return *std::move(space);
}

TEST(PointCheck, APointIsWholeIfEachActiveParameterHasAValue) {
  const Space space = Sample();
  EXPECT_TRUE(IsWhole(Space(), {}));
  EXPECT_TRUE(IsWhole(space, {{"lr", 0.5}, {"kind", Text("line")}}));
  EXPECT_TRUE(IsWhole(space, {{"lr", 0.5}, {"kind", Text("tree")}, {"grow", false}}));
  EXPECT_FALSE(IsWhole(space, {}));
  EXPECT_FALSE(IsWhole(space, {{"lr", 0.5}}));
  EXPECT_FALSE(IsWhole(space, {{"lr", 0.5}, {"kind", Text("tree")}}));
  EXPECT_FALSE(IsWhole(space, {{"lr", 0.5}, {"depth", Int(2)}}));
}

TEST(PointCheck, WhatIsGivenMustBeLegal) {
  const Space space = Sample();
  struct Case {
    Point point;
    std::string error;  // Empty: legal.
  };
  const std::vector<Case> cases = {
      {{}, ""},
      {{{"kind", Text("tree")}}, ""},
      {{{"depth", Int(2)}}, ""},  // With some kind and grow.
      {{{"kind", Text("tree")}, {"depth", Int(2)}}, ""},
      {{{"lr", 7.0}}, "point.lr: must be at most 1, got 7"},
      {{{"width", Int(2)}}, "point.width: no such parameter; known: lr, kind, grow, depth"},
      {{{"grow", false}, {"depth", Int(2)}}, "point.depth: is active only with grow = true"},
      {{{"kind", Text("line")}, {"depth", Int(2)}}, "point.depth: is active only with grow = true"},
      {{{"kind", Text("line")}, {"grow", true}}, "point.grow: is active only with kind = tree"},
      {{{"lr", 0.75}, {"depth", Int(4)}}, "constraints: one does not hold at depth=4 lr=0.75"}};
  for (const Case& c : cases) {
    const absl::Status status = CheckGiven(space, c.point);
    EXPECT_EQ(status.ok() ? "" : std::string(status.message()), c.error);
    if (!IsWhole(space, c.point)) {
      EXPECT_THAT(space.Check(c.point), StatusIs(absl::StatusCode::kInvalidArgument));
    }
  }
}

}  // namespace
}  // namespace vernier
