#include "vernier/algorithm_catalogue.h"

#include <memory>
#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/scripted_optimizer.h"
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

TEST(AlgorithmCatalogue, ListsEveryAlgorithmUnderItsOwnName) {
  const std::vector<std::string> names = AlgorithmCatalogue::BuiltIn().AlgorithmNames();
  EXPECT_THAT(names, ElementsAre("gp", "grid", "quasi-random", "random"));
  for (const std::string& name : names) {
    const auto optimizer = AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = name}, AnyProblem());
    ASSERT_THAT(optimizer, IsOk()) << name;
    EXPECT_EQ((*optimizer)->name(), name);
  }
}

TEST(AlgorithmCatalogue, HintsAtTheNearestAlgorithm) {
  const auto refused =
      AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "quasirandom"}, AnyProblem());
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "algorithm: unknown algorithm 'quasirandom'; did you mean 'quasi-random'?"));
  EXPECT_EQ(GetField(refused.status()), "algorithm");
}

TEST(AlgorithmCatalogue, SaysThatItCannotCallAClassOfAPythonProgram) {
  const Choice own = {.name = "python", .options = {{"class", std::string("nearby")}}};
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().NewOptimizer(own, AnyProblem()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "algorithm: algorithm 'nearby' is a class of a Python program, which this "
                       "program cannot call"));
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().NewEarlyStopper(own, Goal::kMaximize),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "stopping: stopping rule 'nearby' is a class of a Python program, which "
                       "this program cannot call"));
}

TEST(AlgorithmCatalogue, PassesOptionsAndTheSpaceToTheAlgorithm) {
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().NewOptimizer(
                  {.name = "grid", .options = {{"shufle", true}}}, AnyProblem()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("algorithm.shufle: "), HasSubstr("'shuffle'"))));
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().NewOptimizer(
                  {.name = "grid"}, MakeProblem(MakeSpace({Float("lr", 0, 1)}))),
              StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("parameters.lr.float: ")));
}

TEST(AlgorithmCatalogue, MakesEveryStoppingRuleUnderItsOwnName) {
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().StoppingRuleNames(),
              ElementsAre("asha",
                          "automatic",
                          "decay",
                          "hyperband",
                          "median",
                          "none",
                          "percentile",
                          "regression",
                          "successive_halving"));
  const auto median =
      AlgorithmCatalogue::BuiltIn().NewEarlyStopper({.name = "median"}, Goal::kMaximize);
  ASSERT_THAT(median, IsOk());
  EXPECT_EQ((*median)->name(), "median");
  const auto none =
      AlgorithmCatalogue::BuiltIn().NewEarlyStopper({.name = "none"}, Goal::kMaximize);
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(*none, nullptr);
}

TEST(AlgorithmCatalogue, MakesNoRuleThatMustNotActButChecksItsOptions) {
  const AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
  const auto make = [&catalogue](std::map<std::string, ParameterValue> options) {
    return catalogue.NewEarlyStopper({.name = "median", .options = std::move(options)},
                                     Goal::kMaximize);
  };
  const auto passive = make({{"act", false}, {"min_trials", std::int64_t{2}}});
  ASSERT_THAT(passive, IsOk());
  EXPECT_EQ(*passive, nullptr);
  const auto active = make({{"act", true}, {"min_trials", std::int64_t{2}}});
  ASSERT_THAT(active, IsOk());
  ASSERT_NE(*active, nullptr);
  EXPECT_EQ((*active)->options().find("act"), std::string::npos);
  EXPECT_THAT(make({{"act", false}, {"min_trials", std::int64_t{0}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stopping.min_trials: ")));
  EXPECT_THAT(
      make({{"act", std::string("no")}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "stopping.act: must be true or false, got no"));
}

TEST(AlgorithmCatalogue, RefusesUnknownStoppingRulesAndOptionsOfNone) {
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().NewEarlyStopper({.name = "medain"}, Goal::kMaximize),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "stopping: unknown stopping rule 'medain'; did you mean 'median'?"));
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().NewEarlyStopper(
                  {.name = "none", .options = {{"x", true}}}, Goal::kMaximize),
              StatusIs(absl::StatusCode::kInvalidArgument, "stopping.x: none has no options"));
}

TEST(AlgorithmCatalogue, TakesAlgorithmsAndRulesOfOthersOnceEach) {
  AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
  const auto least = [](const Problem&, const Choice&) {
    return std::make_unique<testing::ScriptedOptimizer>("1", nullptr);
  };
  const auto never = [](Goal, const Choice&) { return std::unique_ptr<EarlyStopper>(); };
  ASSERT_THAT(catalogue.AddAlgorithm("least", least), IsOk());
  ASSERT_THAT(catalogue.AddStoppingRule("never", never), IsOk());
  EXPECT_THAT(catalogue.AlgorithmNames(),
              ElementsAre("gp", "grid", "least", "quasi-random", "random"));
  EXPECT_THAT(catalogue.StoppingRuleNames(),
              ElementsAre("asha",
                          "automatic",
                          "decay",
                          "hyperband",
                          "median",
                          "never",
                          "none",
                          "percentile",
                          "regression",
                          "successive_halving"));
  EXPECT_EQ((*catalogue.NewOptimizer({.name = "least"}, AnyProblem()))->name(), "scripted");
  EXPECT_EQ(*catalogue.NewEarlyStopper({.name = "never"}, Goal::kMaximize), nullptr);
  EXPECT_THAT(catalogue.NewOptimizer({.name = "leest"}, AnyProblem()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "algorithm: unknown algorithm 'leest'; did you mean 'least'?"));
  EXPECT_THAT(AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "least"}, AnyProblem()),
              StatusIs(absl::StatusCode::kInvalidArgument));

  EXPECT_THAT(catalogue.AddAlgorithm("gp", least),
              StatusIs(absl::StatusCode::kAlreadyExists, "the name of algorithm 'gp' is taken"));
  EXPECT_THAT(catalogue.AddStoppingRule("never", never),
              StatusIs(absl::StatusCode::kAlreadyExists));
  for (const std::string& bad : {std::string(), std::string("two words"), std::string(65, 'a')}) {
    EXPECT_THAT(catalogue.AddAlgorithm(bad, least),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 to 64 letters")));
  }
  EXPECT_THAT(catalogue.AddAlgorithm("null", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, "algorithm 'null' has no factory"));
}

TEST(AlgorithmCatalogue, OutlivesAFactoryThatThrowsOrMakesNothing) {
  AlgorithmCatalogue catalogue;
  const auto throws = [](const Problem&,
                         const Choice&) -> absl::StatusOr<std::unique_ptr<Optimizer>> {
    throw std::runtime_error("no licence");
  };
  const auto nothing = [](const Problem&, const Choice&) { return std::unique_ptr<Optimizer>(); };
  ASSERT_THAT(catalogue.AddAlgorithm("throws", throws), IsOk());
  ASSERT_THAT(catalogue.AddAlgorithm("nothing", nothing), IsOk());
  EXPECT_THAT(
      catalogue.NewOptimizer({.name = "throws"}, AnyProblem()),
      StatusIs(absl::StatusCode::kInternal, "algorithm 'throws' cannot be made: no licence"));
  EXPECT_THAT(catalogue.NewOptimizer({.name = "nothing"}, AnyProblem()),
              StatusIs(absl::StatusCode::kInternal, "algorithm 'nothing' made nothing"));
}

TEST(NumericsFingerprint, NamesProcessorCompilerAndLibraries) {
  const std::string fingerprint = NumericsFingerprint();
  EXPECT_THAT(fingerprint, AllOf(HasSubstr("eigen-"), HasSubstr("glibc-")));
  EXPECT_EQ(fingerprint, NumericsFingerprint());
}

}  // namespace
}  // namespace vernier
