#include "algorithms/gaussian_process/space/branches.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vernier/ask_tell.h"

namespace vernier {
namespace {

ParameterValue Text(const char* text) { return std::string(text); }

Parameter Categorical(const char* name, std::vector<ParameterValue> values) {
  return {.name = name, .domain = CategoricalDomain{.values = std::move(values)}};
}

Parameter Child(const char* name, const char* parent, const char* value) {
  return {
      .name = name, .domain = FloatDomain{}, .when = {{.parent = parent, .values = {Text(value)}}}};
}

// Two choices that others depend on, the second only there for one value of the first; one choice that nothing depends on.
Space Nested() {
  Parameter kind = Categorical("kind", {Text("deep"), Text("wide"), Text("none")});
  kind.when = {{.parent = "model", .values = {Text("net")}}};
  return Space::Create({Categorical("model", {Text("net"), Text("tree")}),
                        kind,
                        Child("leaves", "model", "tree"),
                        Child("depth", "kind", "deep"),
                        Categorical("scaling", {Text("on"), Text("off")})})
      .value();
}

using Tried = std::vector<gp::Coordinates>;

class BranchTest : public ::testing::Test {
 protected:
  gp::Coordinates At(const Point& point) const { return space_.Encode(point); }
  std::string NameOf(const gp::Branch& branch) const {
    return space_.space().parameters()[static_cast<std::size_t>(branch.parameter)].name;
  }
  std::int64_t ValueOf(const gp::Branch& branch) const {
    return space_.IndexAt(branch.parameter, branch.cell);
  }

  const gp::CoordinateSpace space_{Nested()};
  const gp::Coordinates deep_ =
      At({{"model", Text("net")}, {"kind", Text("deep")}, {"depth", 0.5}, {"scaling", Text("on")}});
  const gp::Coordinates wide_ =
      At({{"model", Text("net")}, {"kind", Text("wide")}, {"scaling", Text("on")}});
  const gp::Coordinates tree_ =
      At({{"model", Text("tree")}, {"leaves", 0.5}, {"scaling", Text("off")}});
};

TEST_F(BranchTest, IsTheLeastTriedValueOfAChoiceThatOthersDependOn) {
  const auto of_model = gp::LeastTriedBranch(space_, {Tried{deep_, wide_, tree_}}, 0);
  ASSERT_TRUE(of_model.has_value());
  EXPECT_EQ(NameOf(*of_model), "model");
  EXPECT_EQ(ValueOf(*of_model), 1);
  EXPECT_EQ(of_model->trials, 1u);
}

TEST_F(BranchTest, TakesTheChoicesInTurn) {
  const auto of_kind = gp::LeastTriedBranch(space_, {Tried{deep_, wide_}, Tried{wide_, tree_}}, 1);
  ASSERT_TRUE(of_kind.has_value());
  EXPECT_EQ(NameOf(*of_kind), "kind");
  EXPECT_EQ(ValueOf(*of_kind), 2);  // Never tried.
  EXPECT_EQ(of_kind->trials, 0u);
  EXPECT_EQ(NameOf(*gp::LeastTriedBranch(space_, {}, 2)), "model");
}

TEST_F(BranchTest, HoldsOnlyWhereItsChoiceIsActive) {
  const auto of_kind = gp::LeastTriedBranch(space_, {Tried{wide_}}, 1);
  ASSERT_EQ(ValueOf(*of_kind), 0);
  EXPECT_TRUE(of_kind->Holds(space_, deep_));
  EXPECT_FALSE(of_kind->Holds(space_, wide_));
  gp::Coordinates off = deep_;
  off[0] = tree_[0];
  EXPECT_FALSE(of_kind->Holds(space_, off));
}

TEST(LeastTriedBranch, IsNoneWhereNothingDependsOnAChoice) {
  const gp::CoordinateSpace space(Space::Create({Categorical("scaling", {Text("on"), Text("off")}),
                                                 {.name = "x", .domain = {}}})
                                      .value());
  EXPECT_EQ(gp::LeastTriedBranch(space, {}, 0), std::nullopt);
}

// A shallow bowl, and a branch that is worse nearly everywhere but holds the optimum, 0.05, in a well a tenth as wide as the space.
Problem Trap() {
  return {.space = Space::Create({Categorical("model", {Text("bowl"), Text("well")}),
                                  Child("x", "model", "bowl"),
                                  Child("y", "model", "bowl"),
                                  Child("u", "model", "well"),
                                  Child("v", "model", "well")})
                       .value(),
          .objectives = {{.metric = "loss", .goal = Goal::kMinimize}}};
}

double TrapLoss(const Point& point) {
  const auto at = [&point](const char* name) { return std::get<double>(point.at(name)); };
  if (point.at("model") == Text("bowl")) {
    return 0.2 + 0.3 * std::pow(at("x") - 0.4, 2) + 0.2 * std::pow(at("y") - 0.8, 2);
  }
  const double well = std::exp(-std::pow((at("u") - 0.63) / 0.12, 2));
  return 0.85 - 0.8 * well + 0.3 * std::pow(at("v") - 0.3, 2);
}

TEST(GpOptimizer, GoesOnInOtherBranchesOnceOneIsSpent) {
  int found = 0;
  bool said = false;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    AskTell study = AskTell::Create(Trap(), {.name = "gp", .options = {}}, seed).value();
    double best = 1;
    for (int i = 0; i < 60; ++i) {
      const AskTell::Asked asked = study.Ask()->front();
      const double loss = TrapLoss(asked.suggestion.point);
      best = std::min(best, loss);
      said =
          said || asked.suggestion.note.find("looks for the best of model = ") != std::string::npos;
      ASSERT_TRUE(study.Tell(asked.trial, {loss}).ok());
    }
    if (best < 0.1) ++found;
  }
  EXPECT_EQ(found, 5);
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace vernier
