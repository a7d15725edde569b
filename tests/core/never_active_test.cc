#include "src/core/never_active.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Parameter Choice(const std::string& name, std::vector<Condition> when) {
  return {.name = name,
          .domain = CategoricalDomain{{"a", "b", "c"}},
          .when = std::move(when),
          .default_value = {}};
}

std::vector<NeverActive> Find(const std::vector<Parameter>& parameters) {
  return FindNeverActive(*Space::Create(parameters));
}

TEST(NeverActive, FindsNothingWhereAllConditionsCanHold) {
  EXPECT_THAT(FindNeverActive(Space()), IsEmpty());
  EXPECT_THAT(Find({Choice("x", {}),
                    Choice("y", {{"x", {"a", "b"}}}),
                    Choice("z", {{"y", {"c"}}, {"x", {"b", "c"}}})}),
              IsEmpty());
}

TEST(NeverActive, FindsConditionsThatContradictThoseOfTheParent) {
  EXPECT_THAT(Find({Choice("x", {}),
                    Choice("y", {{"x", {"a"}}}),
                    Choice("z", {{"y", {"a"}}, {"x", {"b", "c"}}})}),
              ElementsAre(NeverActive{.parameter = "z", .ancestor = "x"}));
}

TEST(NeverActive, FindsTwoParentsThatAreNeverActiveTogether) {
  EXPECT_THAT(Find({Choice("x", {}),
                    Choice("left", {{"x", {"a"}}}),
                    Choice("right", {{"x", {"b"}}}),
                    Choice("both", {{"left", {"a"}}, {"right", {"a"}}})}),
              ElementsAre(NeverActive{.parameter = "both", .ancestor = "x"}));
}

TEST(NeverActive, FindsTheDescendantsToo) {
  // In the order of the definition, although children come first.
  EXPECT_THAT(Find({Choice("child", {{"z", {"a"}}}),
                    Choice("z", {{"x", {"a"}}, {"x", {"b"}}}),
                    Choice("x", {})}),
              ElementsAre(NeverActive{.parameter = "child", .ancestor = "x"},
                          NeverActive{.parameter = "z", .ancestor = "x"}));
}

}  // namespace
}  // namespace vernier
