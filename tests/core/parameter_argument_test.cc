#include "src/core/parameter_argument.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

using testing::IsOk;
using testing::StatusIs;

StudySpec Study(std::vector<Parameter> parameters) {
  StudySpec spec{.name = "s", .objectives = {{.metric = "loss"}}};
  spec.space = Space::Create(std::move(parameters)).value();
  spec.job = TrainingJob{.command = {"train"}};
  return spec;
}

StudySpec AnyStudy() {
  return Study({{.name = "lr", .domain = FloatDomain{}},
                {.name = "LR", .domain = FloatDomain{}},
                {.name = "use-bias", .domain = BoolDomain{}}});
}

struct NameCase {
  std::string parameter;
  ArgumentStyle style;
  std::string name;
};

TEST(ArgumentOf, MakesTheNameOfTheParameters) {
  const NameCase cases[] = {
      {"lr", ArgumentStyle::kOption, "--lr"},
      {"lr", ArgumentStyle::kSeparate, "--lr"},
      {"bias", ArgumentStyle::kFlag, "--bias"},
      {"use_bias", ArgumentStyle::kAbsentFlag, "--no-use_bias"},
      {"model.lr", ArgumentStyle::kAssignment, "model.lr"},
      {"model.learning-rate", ArgumentStyle::kVariable, "MODEL_LEARNING_RATE"},
      {"lr", ArgumentStyle::kPositional, ""},
      {"lr", ArgumentStyle::kFile, ""}};
  for (const NameCase& c : cases) {
    const Parameter parameter{.name = c.parameter, .domain = BoolDomain{}};
    const TrainingJob job{.arguments = {{c.parameter, {.style = c.style}}}};
    EXPECT_EQ(ArgumentOf(job, parameter), (ParameterArgument{c.style, c.name}));
  }
}

TEST(ArgumentOf, IsTheJobsStyleUnlessTheParameterHasItsOwn) {
  const TrainingJob job{.argument_style = ArgumentStyle::kVariable,
                        .arguments = {{"width", {ArgumentStyle::kSeparate, "-w"}}}};
  EXPECT_EQ(ArgumentOf(job, {.name = "lr"}), (ParameterArgument{ArgumentStyle::kVariable, "LR"}));
  EXPECT_EQ(ArgumentOf(job, {.name = "width"}),
            (ParameterArgument{ArgumentStyle::kSeparate, "-w"}));
}

TEST(IsNegativeFlag, IsOneThatTakesSomethingAway) {
  EXPECT_TRUE(IsNegativeFlag("--no-nesterov", "nesterov"));
  EXPECT_TRUE(IsNegativeFlag("--no_bias", "use_bias"));
  EXPECT_FALSE(IsNegativeFlag("--no-bias", "no_bias"));
  EXPECT_FALSE(IsNegativeFlag("--nodes", "nodes"));
  EXPECT_FALSE(IsNegativeFlag("--nesterov", "nesterov"));
}

TEST(CheckArguments, TakesNamesThatTheirStylesCanHave) {
  StudySpec spec = AnyStudy();
  EXPECT_THAT(CheckArguments(spec), IsOk());
  spec.job->arguments = {{"lr", {ArgumentStyle::kAssignment, "+optim@model.lr"}},
                         {"LR", {ArgumentStyle::kOption, "-LR"}},
                         {"use-bias", {ArgumentStyle::kAbsentFlag, "--no-bias"}}};
  EXPECT_THAT(CheckArguments(spec), IsOk());
  // A variable and an option are no rivals.
  spec.job->arguments = {{"LR", {ArgumentStyle::kVariable, ""}}};
  EXPECT_THAT(CheckArguments(spec), IsOk());
}

TEST(CheckArguments, ANameThatNoOptionCanHaveNeedsOneOfItsOwn) {
  StudySpec spec = Study({{.name = "learning rate", .domain = FloatDomain{}}});
  EXPECT_EQ(
      CheckArguments(spec).message(),
      "parameters[0].name: the program is given it by this name, which must match "
      "^[A-Za-z_][A-Za-z0-9_.-]*$, got 'learning rate'; `arg` gives the program another, as in "
      "`arg: --lr`");
  for (const ParameterArgument& given : {ParameterArgument{ArgumentStyle::kOption, "--lr"},
                                         ParameterArgument{ArgumentStyle::kPositional, ""},
                                         ParameterArgument{ArgumentStyle::kVariable, ""},
                                         ParameterArgument{ArgumentStyle::kFile, ""}}) {
    spec.job->arguments = {{"learning rate", given}};
    EXPECT_THAT(CheckArguments(spec), IsOk());
  }
  spec = Study({{.name = "2nd", .domain = FloatDomain{}}});
  spec.job->argument_style = ArgumentStyle::kVariable;
  EXPECT_THAT(CheckArguments(spec), StatusIs(absl::StatusCode::kInvalidArgument));
}

struct ArgumentCase {
  std::string name;
  std::function<void(TrainingJob&)> spoil;
  std::string error;
};

class ArgumentRules : public ::testing::TestWithParam<ArgumentCase> {};

TEST_P(ArgumentRules, ExplainWhatIsWrong) {
  StudySpec spec = AnyStudy();
  GetParam().spoil(*spec.job);
  const absl::Status status = CheckArguments(spec);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
  EXPECT_EQ(GetField(status), GetParam().error.substr(0, GetParam().error.find(": ")));
}

INSTANTIATE_TEST_SUITE_P(
    Arguments,
    ArgumentRules,
    ::testing::ValuesIn(std::vector<ArgumentCase>{
        {"Unknown",
         [](TrainingJob& j) { j.arguments["use_bias"] = {}; },
         "job.arguments.use_bias: no such parameter; did you mean 'use-bias'?"},
        {"FlagOfANumber",
         [](TrainingJob& j) { j.arguments["lr"] = {.style = ArgumentStyle::kFlag}; },
         "parameters.lr.bool.flag: only a boolean parameter can be a flag that is there or not"},
        {"FlagsForAll",
         [](TrainingJob& j) { j.argument_style = ArgumentStyle::kFlag; },
         "job.arguments: a flag is no style of all parameters, only of one"},
        {"OptionWithoutDash",
         [](TrainingJob& j) {
           j.arguments["lr"] = {ArgumentStyle::kOption, "lr"};
         },
         "parameters.lr.arg: must be an option such as --lr, without = and spaces, got 'lr'"},
        {"OptionOfDashes",
         [](TrainingJob& j) {
           j.arguments["lr"] = {ArgumentStyle::kSeparate, "--"};
         },
         "parameters.lr.arg: must be an option such as --lr, without = and spaces, got '--'"},
        {"OptionWithSpace",
         [](TrainingJob& j) {
           j.arguments["lr"] = {ArgumentStyle::kOption, "--lr 1"};
         },
         "parameters.lr.arg: must be an option such as --lr, without = and spaces, got '--lr 1'"},
        {"FlagWithoutDash",
         [](TrainingJob& j) {
           j.arguments["use-bias"] = {ArgumentStyle::kFlag, "bias"};
         },
         "parameters.use-bias.bool.flag: must be an option such as --lr, without = and spaces, got "
         "'bias'"},
        {"AssignmentWithEquals",
         [](TrainingJob& j) {
           j.arguments["lr"] = {ArgumentStyle::kAssignment, "a=b"};
         },
         "parameters.lr.arg: must be a word without =, got 'a=b'"},
        {"Variable",
         [](TrainingJob& j) {
           j.arguments["lr"] = {ArgumentStyle::kVariable, "1A"};
         },
         "parameters.lr.arg: a variable's name must match ^[A-Za-z_][A-Za-z0-9_]*$, got '1A'"},
        {"NamedPositional",
         [](TrainingJob& j) {
           j.arguments["lr"] = {ArgumentStyle::kPositional, "lr"};
         },
         "parameters.lr.arg: takes no name: the program sees none"},
        {"OneOptionForTwo",
         [](TrainingJob& j) {
           j.arguments["LR"] = {ArgumentStyle::kSeparate, "--lr"};
         },
         "parameters.LR.arg: parameter 'lr' is given as '--lr' too"},
        {"OneVariableForTwo",
         [](TrainingJob& j) { j.argument_style = ArgumentStyle::kVariable; },
         "parameters.LR.arg: parameter 'lr' is given as 'LR' too"},
        {"JobDirectory",
         [](TrainingJob& j) {
           j.job_directory = "out";
           j.arguments["lr"] = {ArgumentStyle::kOption, "--job-dir"};
         },
         "parameters.lr.arg: '--job-dir' is how job.dir is given"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace vernier
