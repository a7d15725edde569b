#include "src/core/outcome_constraint.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::vernier::testing::IsOk;
using ::vernier::testing::kInf;
using ::vernier::testing::StatusIs;

OutcomeConstraint Constraint(const std::string& text) {
  return OutcomeConstraint::Parse(text, std::vector<std::string>{"val-loss"}).value();
}

TEST(OutcomeConstraint, SaysHowFarItIsKept) {
  const OutcomeConstraint latency = Constraint("latency_ms <= 20");
  EXPECT_EQ(latency.Slack({{"latency_ms", 15}, {"accuracy", 1}}), 5);
  EXPECT_EQ(latency.Slack({{"latency_ms", 20}}), 0);
  EXPECT_EQ(latency.Slack({{"latency_ms", 23}}), -3);
  EXPECT_EQ(latency.text(), "latency_ms <= 20");
  EXPECT_THAT(latency.metrics(), ElementsAre("latency_ms"));
}

TEST(OutcomeConstraint, KnowsTheNamesThatHoldADash) {
  const OutcomeConstraint constraint = Constraint("val-loss < 1 and accuracy-latency_ms > 0");
  EXPECT_THAT(constraint.metrics(), ElementsAre("val-loss", "accuracy", "latency_ms"));
  EXPECT_THAT(constraint.Slack({{"val-loss", 0.25}, {"accuracy", 9}, {"latency_ms", 4}}),
              DoubleEq(0.75));
}

TEST(OutcomeConstraint, DoesNotKnowWhatIsMissingOrNotFinite) {
  const OutcomeConstraint latency = Constraint("latency_ms <= 20");
  EXPECT_THAT(latency.Slack({}), IsNan());
  for (const double value : {kInf, -kInf, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(latency.Slack({{"latency_ms", value}}), IsNan());
  }
}

TEST(OutcomeConstraint, KnowsWhatTheOtherSideDecides) {
  const OutcomeConstraint either = Constraint("latency_ms <= 20 or memory_mb <= 100");
  EXPECT_EQ(either.Slack({{"latency_ms", 15}}), 5);
  EXPECT_THAT(either.Slack({{"latency_ms", 25}}), IsNan());
  const OutcomeConstraint both = Constraint("latency_ms <= 20 and memory_mb <= 100");
  EXPECT_EQ(both.Slack({{"latency_ms", 25}}), -5);
  EXPECT_THAT(both.Slack({{"latency_ms", 15}}), IsNan());
}

TEST(OutcomeConstraint, AreKeptIfEachIsKnownToBe) {
  const std::vector<OutcomeConstraint> constraints = {Constraint("a <= 1"), Constraint("b < 1")};
  EXPECT_TRUE(AreKept(SlacksOf(constraints, {{"a", 1}, {"b", 0}})));
  EXPECT_FALSE(AreKept(SlacksOf(constraints, {{"a", 1}, {"b", 1}})));
  EXPECT_FALSE(AreKept(SlacksOf(constraints, {{"a", 1}})));
  EXPECT_TRUE(AreKept(SlacksOf({}, {})));
}

StudySpec SpecWith(const std::string& constraint) {
  StudySpec spec;
  spec.name = "digits";
  spec.objectives = {{.metric = "accuracy"}};
  spec.metrics = {{"val-loss", {.kind = MetricSourceKind::kRegex, .text = "loss=(.*)"}}};
  Parameter width = {.name = "width", .domain = IntDomain{.lower = 1, .upper = 8}};
  Parameter loss = {.name = "val-loss", .domain = FloatDomain{.lower = 0, .upper = 1}};
  spec.space = Space::Create({width, loss}).value();
  spec.outcome_constraints = {"accuracy > 0.5", constraint};
  return spec;
}

TEST(MissingMetrics, NamesEachOnceInTheOrderOfTheConstraints) {
  const std::vector<OutcomeConstraint> constraints = {
      Constraint("latency <= 2 * size"), Constraint("memory + size < 8"), Constraint("loss < 1")};
  EXPECT_THAT(MissingMetrics(constraints, {{"memory", 1}, {"other", 2}}),
              ElementsAre("latency", "size", "loss"));
  EXPECT_THAT(
      MissingMetrics(constraints, {{"latency", 1}, {"size", 2}, {"memory", 3}, {"loss", 4}}),
      IsEmpty());
}

TEST(CheckOutcomeConstraints, AcceptsAnyNameAsAMetric) {
  EXPECT_THAT(CheckOutcomeConstraints(SpecWith("latency_ms <= 20 * accuracy")), IsOk());
}

TEST(CheckOutcomeConstraints, AParameterMayHaveTheNameOfAKnownMetric) {
  EXPECT_THAT(CheckOutcomeConstraints(SpecWith("val-loss < 1")), IsOk());
}

TEST(CheckOutcomeConstraints, RefusesParameters) {
  EXPECT_THAT(CheckOutcomeConstraints(SpecWith("latency_ms <= 2 * width")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "outcome_constraints[1]: must be over metrics, 'width' is a parameter; "
                       "conditions between parameters go to constraints"));
}

TEST(CheckOutcomeConstraints, RefusesWhatIsTheSameForEveryTrial) {
  EXPECT_THAT(CheckOutcomeConstraints(SpecWith("1 < 2")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "outcome_constraints[1]: must name a metric, '1 < 2' is the same for every "
                       "trial"));
}

TEST(CheckOutcomeConstraints, NamesTheOneThatCannotBeRead) {
  EXPECT_THAT(CheckOutcomeConstraints(SpecWith("loss <=")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "outcome_constraints[1]: expected a number, name or '(' at column 8, got "
                       "the end"));
}

// What older stores hold stays readable.
TEST(CheckOutcomeConstraints, ValidateAloneTakesThem) {
  EXPECT_THAT(Validate(SpecWith("width < 2")), IsOk());
  EXPECT_THAT(Validate(SpecWith("1 < 2")), IsOk());
}

}  // namespace
}  // namespace vernier
