#include <functional>
#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "src/wire/study_proto.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/amendment.h"

namespace vernier::wire {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

struct SpecCase {
  std::string name;
  std::string text;   // Of a v1.StudySpec; an objective is added where there is none.
  std::string error;  // The message holds it.
};

class BadSpecTest : public ::testing::TestWithParam<SpecCase> {};

// Decoding and validation together are what creation does.
absl::Status Judge(const v1::StudySpec& proto) {
  const auto spec = DecodeSpec("digits", proto);
  return spec.ok() ? Validate(*spec) : spec.status();
}

v1::StudySpec Parse(const std::string& text) {
  v1::StudySpec spec;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &spec)) << text;
  if (spec.objectives().empty()) {
    auto* objective = spec.add_objectives();
    objective->set_metric("accuracy");
    objective->set_goal(v1::MAXIMIZE);
  }
  return spec;
}

TEST_P(BadSpecTest, IsExplained) {
  EXPECT_THAT(Judge(Parse(GetParam().text)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().error)));
}

constexpr char kX[] = "parameters { name: 'x' float { lower: 0 upper: 1 } } ";

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadSpecTest,
    ::testing::Values(
        SpecCase{"NoDomain", "parameters { name: 'x' }", "parameters.x: needs one of float, int"},
        SpecCase{"NoName", "parameters { int { lower: 0 upper: 1 } }", "parameters[0].name"},
        SpecCase{"Scale", "parameters { name: 'x' float { upper: 1 scale: 9 } }", "parameters.x"},
        SpecCase{"LogFromZero",
                 "parameters { name: 'x' float { upper: 1 scale: LOG } }",
                 "parameters.x.float"},
        SpecCase{"Reversed",
                 "parameters { name: 'x' float { lower: 2 upper: 1 } }",
                 "parameters.x.float"},
        SpecCase{"NotANumber",
                 "parameters { name: 'x' float { lower: nan upper: 1 } }",
                 "parameters.x.float"},
        SpecCase{"Infinite",
                 "parameters { name: 'x' float { lower: 0 upper: inf } }",
                 "parameters.x.float"},
        SpecCase{"Step", "parameters { name: 'x' float { upper: 1 step: -0.1 } }", "parameters.x"},
        SpecCase{"Points", "parameters { name: 'x' float { upper: 1 points: 0 } }", "parameters.x"},
        SpecCase{"IntReversed",
                 "parameters { name: 'n' int { lower: 5 upper: 1 } }",
                 "parameters.n.int"},
        SpecCase{"NoValues", "parameters { name: 'c' categorical {} }", "parameters.c"},
        SpecCase{"EmptyValue",
                 "parameters { name: 'c' categorical { values {} } }",
                 "parameters.c.categorical[0]: needs one of"},
        SpecCase{
            "DoubleValue",
            "parameters { name: 'c' categorical { values { text: 'a' } values { text: 'a' } } }",
            "parameters.c"},
        SpecCase{"DiscreteOrder",
                 "parameters { name: 'd' discrete { values: 2 values: 1 } }",
                 "parameters.d"},
        SpecCase{"Default",
                 "parameters { name: 'x' float { upper: 1 } default_value { number: 3 } }",
                 "parameters.x.default"},
        SpecCase{"DefaultKind",
                 "parameters { name: 'x' float { upper: 1 } default_value { text: 'low' } }",
                 "parameters.x.default"},
        SpecCase{"EmptyDefault",
                 "parameters { name: 'x' float { upper: 1 } default_value {} }",
                 "parameters.x.default: needs one of"},
        SpecCase{
            "Parent",
            "parameters { name: 'x' float { upper: 1 } when { parent: 'y' values { number: 1 } } }",
            "parameters.x.when"},
        SpecCase{
            "EmptyCondition",
            std::string(kX) + "parameters { name: 'y' bool {} when { parent: 'x' values {} } }",
            "parameters.y.when.x[0]"},
        SpecCase{"TwiceNamed", std::string(kX) + kX, "x"},
        SpecCase{"Constraint", std::string(kX) + "constraints: 'x <='", "constraints[0]"},
        SpecCase{"ConstraintName", std::string(kX) + "constraints: 'y <= 1'", "constraints[0]"},
        SpecCase{
            "Goal", std::string(kX) + "objectives { metric: 'a' }", "must be MAXIMIZE or MINIMIZE"},
        SpecCase{"Parallel", std::string(kX) + "parallel: -1", "parallel"},
        SpecCase{"Trials", std::string(kX) + "budget { trials: -5 }", "budget.trials"},
        SpecCase{"Option",
                 std::string(kX) + "algorithm { name: 'gp' options { key: 'k' value {} } }",
                 "algorithm.k: needs one of"},
        SpecCase{"Expiry",
                 std::string(kX) + "lease { on_expiry: 7 }",
                 "lease.on_expiry: must be OFFER or FAIL, got 7"},
        SpecCase{"Role",
                 std::string(kX) + "job { command: 'true' replicas { key: 'boss' value {} } }",
                 "job.replicas.boss: unknown role"},
        SpecCase{"TwoPrimaries",
                 std::string(kX) + "job { command: 'true' replicas { key: 'chief' value {} } "
                                   "replicas { key: 'master' value {} } }",
                 "chief and master"},
        SpecCase{"NoCommand", std::string(kX) + "job {}", "job"}),
    [](const auto& row) { return row.param.name; });

TEST(DecodeSpec, FillsInDefaults) {
  const auto spec = DecodeSpec("digits", Parse(kX));
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->algorithm.name, "gp");
  EXPECT_EQ(spec->stopping.name, "none");
  EXPECT_EQ(spec->parallel, 1);
  EXPECT_EQ(spec->lease, LeasePolicy());
  EXPECT_FALSE(spec->job.has_value());
}

TEST(DecodeSpec, TakesWholeNumbersForFloats) {
  const auto spec = DecodeSpec(
      "digits",
      Parse("parameters { name: 'x' float { upper: 2 } default_value { integer: 1 } }"
            "parameters { name: 'n' int { upper: 3 } }"
            "parameters { name: 'y' bool {} when { parent: 'n' values { number: 2 } } }"));
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->space.parameters()[0].default_value, ParameterValue(1.0));
  EXPECT_EQ(spec->space.parameters()[2].when[0].values[0], ParameterValue(std::int64_t{2}));
}

class AmendmentTest : public ::testing::Test {
 protected:
  AmendmentTest() {
    update_.mutable_spec()->set_parallel(4);
    update_.mutable_spec()->mutable_budget()->set_trials(20);
  }

  absl::StatusOr<Amendment> Amend(std::initializer_list<std::string> paths) {
    v1::UpdateStudyRequest request;
    *request.mutable_study() = update_;
    for (const auto& path : paths) request.mutable_update_mask()->add_paths(path);
    return DecodeAmendment(request);
  }

  v1::Study update_;
};

TEST_F(AmendmentTest, ChangesOnlyWhatTheMaskNames) {
  ASSERT_OK_AND_ASSIGN(const Amendment change, Amend({"spec.budget.trials"}));
  EXPECT_EQ(change, (Amendment{.trials = 20}));
}

TEST_F(AmendmentTest, ClearsNamedFieldsThatAreNotSet) {
  const std::optional<std::int64_t> unbounded;
  const std::optional<absl::Duration> endless;
  ASSERT_OK_AND_ASSIGN(const Amendment one, Amend({"spec.budget.time"}));
  EXPECT_EQ(one, (Amendment{.time = endless}));
  ASSERT_OK_AND_ASSIGN(const Amendment all, Amend({"spec.budget"}));
  const std::optional<double> any_hours;
  EXPECT_EQ(
      all,
      (Amendment{
          .trials = 20, .failed_trials = unbounded, .time = endless, .gpu_hours = any_hours}));
}

TEST_F(AmendmentTest, TakesTheFieldsThatAreSetWithoutAMask) {
  ASSERT_OK_AND_ASSIGN(const Amendment change, Amend({}));
  EXPECT_EQ(change, (Amendment{.trials = 20, .parallel = 4}));
}

TEST_F(AmendmentTest, ChangesLabelsOneByOneOrAll) {
  auto& labels = *update_.mutable_spec()->mutable_labels();
  labels["team"] = "vision";
  labels["owner"] = "ann";
  ASSERT_OK_AND_ASSIGN(const Amendment some, Amend({"spec.labels.team", "spec.labels.gone"}));
  EXPECT_EQ(some, (Amendment{.labels = {{"team", "vision"}, {"gone", std::nullopt}}}));
  ASSERT_OK_AND_ASSIGN(const Amendment all, Amend({"spec.labels"}));
  EXPECT_EQ(all,
            (Amendment{.labels = {{"team", "vision"}, {"owner", "ann"}}, .clear_labels = true}));
  update_.mutable_spec()->clear_budget();
  update_.mutable_spec()->clear_parallel();
  ASSERT_OK_AND_ASSIGN(const Amendment implied, Amend({}));
  EXPECT_EQ(implied, (Amendment{.labels = {{"team", "vision"}, {"owner", "ann"}}}));
}

TEST_F(AmendmentTest, ChangesPartsThatAreMessages) {
  v1::StudySpec& spec = *update_.mutable_spec();
  spec.mutable_stopping()->set_name("median");
  spec.mutable_convergence()->set_tolerance(0.5);
  (*spec.mutable_metrics())["loss"].set_after("loss=");
  spec.mutable_lease()->mutable_ttl()->set_seconds(5);
  spec.mutable_job()->add_command("true");
  ASSERT_OK_AND_ASSIGN(
      const Amendment change,
      Amend({"spec.stopping", "spec.convergence", "spec.metrics", "spec.lease", "spec.job"}));
  EXPECT_EQ(change.stopping, (Choice{.name = "median", .options = {}}));
  EXPECT_EQ(change.convergence, (std::optional(Convergence{.tolerance = 0.5, .stop = false})));
  EXPECT_EQ(change.metrics->at("loss").text, "loss=");
  EXPECT_EQ(change.lease->ttl, absl::Seconds(5));
  EXPECT_EQ(change.job->command, std::vector<std::string>{"true"});
  EXPECT_FALSE(change.trials.has_value());
}

TEST_F(AmendmentTest, TakesAWholeDefinitionByItsMaskOrBecauseItSetsWhatCannotChange) {
  update_.mutable_spec()->add_objectives()->set_metric("loss");
  update_.mutable_spec()->mutable_objectives(0)->set_goal(v1::MINIMIZE);
  for (const auto& change : {Amend({"spec"}), Amend({})}) {
    ASSERT_THAT(change, IsOk());
    ASSERT_TRUE(change->definition.has_value());
    EXPECT_EQ(change->definition->objectives.front().metric, "loss");
    EXPECT_EQ(change->definition->budget.trials, 20);
    EXPECT_FALSE(change->trials.has_value());
  }
}

TEST_F(AmendmentTest, NeedsNoFieldWhereTheCauseOfFailuresIsFixed) {
  v1::UpdateStudyRequest request;
  request.set_fixed(true);
  ASSERT_OK_AND_ASSIGN(const Amendment change, DecodeAmendment(request));
  EXPECT_EQ(change, (Amendment{.fixed = true}));
}

TEST_F(AmendmentTest, RefusesAJobThatTheMaskNamesAndNobodySet) {
  EXPECT_THAT(Amend({"spec.job"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("job: must be set")));
}

TEST_F(AmendmentTest, RefusesEveryOtherPath) {
  for (const std::string path :
       {"spec.seed", "spec.objectives", "name", "*", "spec.budget.cost", ""}) {
    EXPECT_THAT(Amend({path}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("update_mask: '" + path)));
  }
  update_.Clear();
  EXPECT_THAT(Amend({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("names no field")));
}

}  // namespace
}  // namespace vernier::wire
