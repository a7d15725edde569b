#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/study_file.h"
#include "src/codec/training_input_json.h"
#include "tests/support/status_matchers.h"

namespace vernier::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;

// As users of AI Platform Training write it.
constexpr char kTuningJob[] = R"(
jobId: census_7
labels: {owner: alice}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  masterConfig: {acceleratorConfig: {count: 4, type: NVIDIA_TESLA_T4}}
  workerCount: "9"
  workerType: n1-highcpu-16
  packageUris: [trainer.tar.gz]
  pythonModule: trainer.task
  runtimeVersion: '2.11'
  scheduling: {maxRunningTime: 7200s, priority: 3}
  hyperparameters:
    goal: MINIMIZE
    hyperparameterMetricTag: loss
    maxTrials: 30
    maxParallelTrials: 2
    maxFailedTrials: 4
    enableTrialEarlyStopping: true
    params:
    - {parameterName: lr, type: DOUBLE, minValue: 0.0001, maxValue: 0.1, scaleType: UNIT_LOG_SCALE}
    - {parameterName: units, type: INTEGER, minValue: 8, maxValue: 256, scaleType: UNIT_LINEAR_SCALE}
    - {parameterName: batch, type: DISCRETE, discreteValues: [16, 32, 64]}
    - {parameterName: optimizer, type: CATEGORICAL, categoricalValues: [sgd, adam]}
)";

TEST(JobFile, WithHyperparametersIsAStudy) {
  const auto spec = ParseStudyFile(kTuningJob);
  ASSERT_THAT(spec.status(), IsOk());
  EXPECT_EQ(spec->name, "census_7");
  EXPECT_EQ(spec->labels.at("owner"), "alice");
  EXPECT_THAT(spec->objectives, ElementsAre(Objective{.metric = "loss", .goal = Goal::kMinimize}));
  EXPECT_EQ(spec->algorithm.name, "gp");
  EXPECT_EQ(spec->stopping.name, "automatic");
  EXPECT_EQ(spec->budget.trials, 30);
  EXPECT_EQ(spec->budget.failed_trials, 4);
  EXPECT_EQ(spec->budget.time, absl::Seconds(7200));
  EXPECT_EQ(spec->parallel, 2);
  const std::vector<Parameter>& parameters = spec->space.parameters();
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[0].domain,
            Domain(FloatDomain{.lower = 0.0001, .upper = 0.1, .scale = Scale::kLog}));
  EXPECT_EQ(parameters[1].domain, Domain(IntDomain{.lower = 8, .upper = 256}));
  EXPECT_EQ(parameters[2].domain, Domain(DiscreteDomain{{16, 32, 64}}));
  EXPECT_EQ(parameters[3].domain,
            Domain(CategoricalDomain{{std::string("sgd"), std::string("adam")}}));
  EXPECT_EQ(spec->job->input->worker_count, 9);
  EXPECT_EQ(spec->job->input->scheduling->priority, 3);
}

TEST(JobFile, WithoutHyperparametersIsOneTrial) {
  const auto spec = ParseStudyFile(
      "trainingInput: {packageUris: [p.tar.gz], pythonModule: trainer.task, region: us-east1}",
      "named_elsewhere");
  ASSERT_THAT(spec.status(), IsOk());
  EXPECT_EQ(spec->name, "named_elsewhere");
  EXPECT_THAT(spec->objectives, IsEmpty());
  EXPECT_THAT(spec->space.parameters(), IsEmpty());
  EXPECT_EQ(spec->budget.trials, 1);
}

TEST(JobFile, SurvivesItsStoredForm) {
  for (const char* text :
       {kTuningJob, "{jobId: a, trainingInput: {pythonModule: t, masterConfig: {}}}"}) {
    const auto spec = ParseStudyFile(text);
    ASSERT_THAT(spec.status(), IsOk());
    const auto again = StudySpecFromJson(StudySpecToJson(*spec));
    ASSERT_THAT(again.status(), IsOk());
    EXPECT_EQ(*again, *spec);
  }
}

TEST(JobFile, MayAskForRestarts) {
  const auto read = [](const std::string& restarts) {
    return ParseStudyFile("{jobId: a, trainingInput: {pythonModule: t}, restarts: " + restarts +
                          "}");
  };
  const auto spec = read("{replica: 0, job: 1, reading: lenient}");
  ASSERT_THAT(spec.status(), IsOk());
  EXPECT_EQ(spec->job->restarts,
            (RestartPolicy{.reading = FailureReading::kLenient, .replica = 0, .job = 1}));
  const auto again = StudySpecFromJson(StudySpecToJson(*spec));
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_EQ(*again, *spec);
  EXPECT_EQ(read("{reading: odd}").status().message(),
            R"(restarts.reading: must be strict or lenient, got "odd")");
  EXPECT_EQ(read("{replica: 101}").status().message(),
            "restarts.replica: must be from 0 to 100, got 101");
}

TEST(StudyFile, MayBeAJobAlone) {
  const auto spec = ParseStudyFile("{study: hello, job: {command: [echo, hi]}}");
  ASSERT_THAT(spec.status(), IsOk());
  EXPECT_THAT(spec->objectives, IsEmpty());
  EXPECT_EQ(spec->budget.trials, 1);
  EXPECT_EQ(
      ParseStudyFile("{study: hello, job: {command: [x]}, budget: {trials: 2}}").status().message(),
      "objective: must name a metric; only a job without parameters, of one trial, needs none");
  EXPECT_EQ(ParseStudyFile("{study: hello}").status().message(), "objective: is missing");
}

TEST(TrainingInputJson, SpellsFieldsAsProgramsFindThem) {
  const auto spec = ParseStudyFile(kTuningJob);
  ASSERT_THAT(spec.status(), IsOk());
  const nlohmann::ordered_json json =
      TrainingInputToJson(*spec->job->input, FieldNames::kSnakeCase);
  EXPECT_EQ(json["worker_count"], "9");
  EXPECT_EQ(json["master_config"]["accelerator_config"]["count"], "4");
  EXPECT_EQ(json["hyperparameters"]["max_trials"], 30);
  EXPECT_EQ(json["scheduling"]["max_running_time"], "7200s");
  EXPECT_FALSE(json.contains("parameter_server_count"));
}

struct BadJob {
  std::string name, text, error;
};
class BadJobFileTest : public ::testing::TestWithParam<BadJob> {};

TEST_P(BadJobFileTest, IsRefusedWithASentence) {
  EXPECT_EQ(std::string(ParseStudyFile(GetParam().text).status().message()), GetParam().error);
}

std::string WithParam(const std::string& param) {
  return "{jobId: a, trainingInput: {hyperparameters: {goal: MAXIMIZE, params: [{parameterName: "
         "p, " +
         param + "}]}}}";
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadJobFileTest,
    ::testing::ValuesIn(std::vector<BadJob>{
        {"NoName",
         "{trainingInput: {}}",
         "jobId: is missing; give the job a name in the file or with --name"},
        {"Dash",
         "{jobId: a-b, trainingInput: {}}",
         "jobId: must match ^[A-Za-z][A-Za-z0-9_]{0,127}$, got 'a-b'"},
        {"UnknownField",
         "{jobId: a, trainingInput: {masterTyp: x}}",
         "trainingInput.masterTyp: unknown key; did you mean 'masterType'?"},
        {"DeepUnknownField",
         "{jobId: a, trainingInput: {workerConfig: {acceleratorConfig: {counts: 1}}}}",
         "trainingInput.workerConfig.acceleratorConfig.counts: unknown key; did you mean 'count'?"},
        {"NumberForText",
         "{jobId: a, trainingInput: {runtimeVersion: 2.1}}",
         "trainingInput.runtimeVersion: must be text (write it in quotes), got 2.1"},
        {"TextForNumber",
         "{jobId: a, trainingInput: {workerCount: many}}",
         "trainingInput.workerCount: must be a whole number, got \"many\""},
        {"Duration",
         "{jobId: a, trainingInput: {scheduling: {maxRunningTime: 2h}}}",
         "trainingInput.scheduling.maxRunningTime: must be seconds such as 7200s, got \"2h\""},
        {"Priority",
         "{jobId: a, trainingInput: {scheduling: {priority: high}}}",
         "trainingInput.scheduling.priority: must be a whole number from 0 to 1000, got \"high\""},
        {"NoTrials",
         "{jobId: a, trainingInput: {hyperparameters: {maxTrials: 0, params: [{}]}}}",
         "trainingInput.hyperparameters.maxTrials: must be at least 1, got 0"},
        {"NoParallelTrials",
         "{jobId: a, trainingInput: {hyperparameters: {maxParallelTrials: 0, params: [{}]}}}",
         "trainingInput.hyperparameters.maxParallelTrials: must be at least 1, got 0"},
        {"TrialCount",
         "{jobId: a, trainingInput: {hyperparameters: {maxTrials: many}}}",
         "trainingInput.hyperparameters.maxTrials: must be a whole number from 0 to 2147483647, "
         "got \"many\""},
        {"TooParallel",
         "{jobId: a, trainingInput: {hyperparameters: {maxParallelTrials: 2000000, params: "
         "[{parameterName: p, type: INTEGER, minValue: 1, maxValue: 2}]}}}",
         "trainingInput.hyperparameters.maxParallelTrials: must be from 1 to 10000, got 2000000"},
        {"GridOfDoubles",
         "{jobId: a, trainingInput: {hyperparameters: {algorithm: GRID_SEARCH, params: "
         "[{parameterName: n, type: INTEGER, minValue: 1, maxValue: 2}, {parameterName: lr, type: "
         "DOUBLE, minValue: 0, maxValue: 1}]}}}",
         "trainingInput.hyperparameters.params[1].type: GRID_SEARCH needs INTEGER, CATEGORICAL or "
         "DISCRETE, got DOUBLE"},
        {"ParameterName",
         "{jobId: a, trainingInput: {hyperparameters: {params: [{parameterName: 9lives, type: "
         "INTEGER, minValue: 1, maxValue: 2}]}}}",
         "trainingInput.hyperparameters.params[0].parameterName: the program is given it "
         "by this name, which must match ^[A-Za-z_][A-Za-z0-9_.-]*$, got '9lives'"},
        {"ValueTwice",
         WithParam("type: CATEGORICAL, categoricalValues: [sgd, sgd]"),
         "trainingInput.hyperparameters.params[0].categoricalValues[1]: 'sgd' is listed twice"},
        {"InfiniteBound",
         WithParam("type: DOUBLE, minValue: -1.7e308, maxValue: 1.7e308"),
         "trainingInput.hyperparameters.params[0].maxValue: must be less than "
         "1.7976931348623157e+308 above the lower bound -1.7e+308, got 1.7e+308"},
        {"NoParams",
         "{jobId: a, trainingInput: {hyperparameters: {goal: MAXIMIZE}}}",
         "trainingInput.hyperparameters.params: must name a parameter"},
        {"Goal",
         "{jobId: a, trainingInput: {hyperparameters: {goal: BEST, params: [{}]}}}",
         "trainingInput.hyperparameters.goal: must be one of GOAL_TYPE_UNSPECIFIED, MAXIMIZE, "
         "MINIMIZE, got 'BEST'"},
        {"NoType",
         WithParam("minValue: 1"),
         "trainingInput.hyperparameters.params[0].type: must be one of DOUBLE, INTEGER, "
         "CATEGORICAL, DISCRETE, got ''"},
        {"NoBound",
         WithParam("type: DOUBLE, minValue: 1"),
         "trainingInput.hyperparameters.params[0].maxValue: is missing"},
        {"Reversed",
         WithParam("type: DOUBLE, minValue: 2, maxValue: 1"),
         "trainingInput.hyperparameters.params[0].maxValue: must be above minValue, which is 2, "
         "got "
         "1"},
        {"Fraction",
         WithParam("type: INTEGER, minValue: 1, maxValue: 2.5"),
         "trainingInput.hyperparameters.params[0].maxValue: must be a whole number for type "
         "INTEGER, got 2.5"},
        {"LogOfZero",
         WithParam("type: DOUBLE, minValue: 0, maxValue: 1, scaleType: UNIT_LOG_SCALE"),
         "trainingInput.hyperparameters.params[0].minValue: must be above 0 on scale "
         "UNIT_LOG_SCALE, got 0"},
        {"NotIncreasing",
         WithParam("type: DISCRETE, discreteValues: [1, 1]"),
         "trainingInput.hyperparameters.params[0].discreteValues[1]: must be above the value "
         "before "
         "it, 1, got 1"},
        {"NoValues",
         WithParam("type: CATEGORICAL"),
         "trainingInput.hyperparameters.params[0].categoricalValues: must not be empty"},
        {"Twice",
         WithParam("type: CATEGORICAL, categoricalValues: [a]}, {parameterName: p, type: "
                   "CATEGORICAL, categoricalValues: [a]"),
         "trainingInput.hyperparameters.params[1].parameterName: 'p' is there twice"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(StudyFile, MustSayTheSameAsTheHyperparametersOfItsJob) {
  EXPECT_EQ(ParseStudyFile(R"({study: a, objective: {maximize: m}, parameters: {p: {int: [1, 5]}},
      job: {trainingInput: {hyperparameters: {goal: MAXIMIZE, hyperparameterMetricTag: m,
          params: [{parameterName: p, type: INTEGER, minValue: 1, maxValue: 6}]}}}})")
                .status()
                .message(),
            "job.trainingInput.hyperparameters: says something else than the study's objective and "
            "parameters; leave one out");
}

}  // namespace
}  // namespace vernier::codec
