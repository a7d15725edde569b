#include "vernier/registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::vernier::testing::Float;
using ::vernier::testing::Int;
using ::vernier::testing::IsOk;
using ::vernier::testing::MakeProblem;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::StatusIs;

Problem AnyProblem() { return MakeProblem(MakeSpace({Int("n", 1, 5)})); }

TEST(Registry, ListsEveryAlgorithmUnderItsOwnName) {
  const std::vector<std::string> names = AlgorithmNames();
  EXPECT_THAT(names, ElementsAre("gp", "grid", "quasi-random", "random"));
  for (const std::string& name : names) {
    const auto optimizer = NewOptimizer({.name = name}, AnyProblem());
    ASSERT_THAT(optimizer, IsOk()) << name;
    EXPECT_EQ((*optimizer)->name(), name);
  }
}

TEST(Registry, HintsAtTheNearestAlgorithm) {
  const auto refused = NewOptimizer({.name = "quasirandom"}, AnyProblem());
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "algorithm: unknown algorithm 'quasirandom'; did you mean 'quasi-random'?"));
  EXPECT_EQ(GetField(refused.status()), "algorithm");
}

TEST(Registry, PassesOptionsAndTheSpaceToTheAlgorithm) {
  EXPECT_THAT(NewOptimizer({.name = "grid", .options = {{"shufle", true}}}, AnyProblem()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("algorithm.shufle: "), HasSubstr("'shuffle'"))));
  EXPECT_THAT(NewOptimizer({.name = "grid"}, MakeProblem(MakeSpace({Float("lr", 0, 1)}))),
              StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("parameters.lr.float: ")));
}

TEST(Registry, MakesEveryStoppingRuleUnderItsOwnName) {
  EXPECT_THAT(StoppingRuleNames(), ElementsAre("median", "none"));
  const auto median = NewEarlyStopper({.name = "median"}, Goal::kMaximize);
  ASSERT_THAT(median, IsOk());
  EXPECT_EQ((*median)->name(), "median");
  const auto none = NewEarlyStopper({.name = "none"}, Goal::kMaximize);
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(*none, nullptr);
}

TEST(Registry, RefusesUnknownStoppingRulesAndOptionsOfNone) {
  EXPECT_THAT(NewEarlyStopper({.name = "medain"}, Goal::kMaximize),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "stopping: unknown stopping rule 'medain'; did you mean 'median'?"));
  EXPECT_THAT(NewEarlyStopper({.name = "none", .options = {{"x", true}}}, Goal::kMaximize),
              StatusIs(absl::StatusCode::kInvalidArgument, "stopping.x: none has no options"));
}

TEST(NumericsFingerprint, NamesProcessorCompilerAndLibraries) {
  const std::string fingerprint = NumericsFingerprint();
  EXPECT_THAT(fingerprint, AllOf(HasSubstr("eigen-"), HasSubstr("glibc-")));
  EXPECT_EQ(fingerprint, NumericsFingerprint());
}

}  // namespace
}  // namespace vernier
