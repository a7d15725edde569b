#include <string>

#include "tests/import/fixture.h"

namespace vernier::imports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

using SweepTest = ImportTest;
using KatibTest = ImportTest;
using DeterminedTest = ImportTest;
using FormatsTest = ImportTest;

constexpr std::string_view kSweep = R"(
program: train.py
name: sweepdemo
project: digits
method: bayes
metric: {name: val_loss, goal: minimize, target: 0.1}
run_cap: 30
early_terminate: {type: hyperband, min_iter: 3, eta: 2, s: 2}
command: ["${env}", "${interpreter}", "-u", "${program}", "${args}"]
parameters:
  lr: {distribution: log_uniform_values, min: 0.00001, max: 0.1}
  decay: {distribution: log_uniform, min: -9, max: 0}
  width: {min: 16, max: 256}
  dropout: {distribution: q_uniform, min: 0, max: 0.5, q: 0.1}
  batch: {values: [16, 32, 64], probabilities: [0.2, 0.3, 0.5]}
  optimizer: {values: [sgd, adam]}
  augment: {values: [true, false]}
  noise: {distribution: normal, mu: 1, sigma: 2}
  epochs: {value: 20}
  model: {parameters: {depth: {min: 1, max: 4}}}
)";

TEST_F(SweepTest, BecomesAStudyFile) {
  const auto study = ReadStudy(Write("sweep.yaml", kSweep), {});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->format, "wandb");
  EXPECT_EQ(study->spec.name, "sweepdemo");
  EXPECT_EQ(study->spec.objectives.front().goal, Goal::kMinimize);
  EXPECT_EQ(study->spec.budget.trials, 30);
  EXPECT_EQ(ParameterOf(*study, "lr"), R"({"float":[1e-05,0.1],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "decay"),
            R"({"float":[0.00012340980408667956,1.0],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "width"), R"({"int":[16,256],"scale":"linear"})");
  EXPECT_EQ(ParameterOf(*study, "dropout"), R"({"float":[0.0,0.5],"scale":"linear","step":0.1})");
  EXPECT_EQ(ParameterOf(*study, "batch"), R"({"discrete":[16.0,32.0,64.0]})");
  EXPECT_EQ(ParameterOf(*study, "augment"), R"({"bool":{}})");
  EXPECT_EQ(ParameterOf(*study, "noise"), R"({"float":[-5.0,7.0],"scale":"linear"})");
  EXPECT_EQ(ParameterOf(*study, "model.depth"), R"({"int":[1,4],"scale":"linear"})");
  EXPECT_EQ(study->spec.stopping.name, "hyperband");
  EXPECT_EQ(study->spec.job->command,
            (std::vector<std::string>{"python3", "-u", "train.py", "--epochs=20"}));
  for (const char* const left_out : {"project", "metric.target", "early_terminate.s"}) {
    EXPECT_THAT(study->notes, Contains(std::string(left_out) + ": left out"));
  }
  EXPECT_THAT(study->notes, Contains(HasSubstr("parameters.batch.probabilities: left out")));
}

TEST_F(SweepTest, NamesWhatItCannotHold) {
  const auto read = [&](const std::string& parameters) {
    return ReadStudy(
        Write("s.yaml", "method: random\nmetric: {name: a}\nparameters: " + parameters), {});
  };
  EXPECT_THAT(read("{x: {distribution: beta, min: 0, max: 1}}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("s.yaml: parameters.x.distribution: 'beta' has no counterpart")));
  EXPECT_THAT(read("{x: {distribution: uniform, min: 0}}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameters.x: needs numbers min and max")));
  EXPECT_THAT(
      read("{x: 7}"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parameters.x: must be a mapping")));
  EXPECT_THAT(read("{x: {min: 3, max: 1}}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parameters.x.int")));
  EXPECT_THAT(read("{x: {value: 3}}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parameters: ")));
}

constexpr std::string_view kExperiment = R"(
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: tune-digits, namespace: kubeflow}
spec:
  objective:
    type: maximize
    goal: 0.99
    objectiveMetricName: accuracy
    metricStrategies: [{name: accuracy, value: max}]
  algorithm: {algorithmName: tpe}
  earlyStopping: {algorithmName: medianstop, algorithmSettings: [{name: min_trials_required, value: "1"}]}
  parallelTrialCount: 3
  maxTrialCount: 12
  maxFailedTrialCount: 3
  parameters:
    - {name: lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.03"}}
    - {name: layers, parameterType: int, feasibleSpace: {min: "1", max: "9", step: "2"}}
    - {name: decay, parameterType: double, feasibleSpace: {min: "1e-5", max: "0.1", distribution: logUniform}}
    - {name: optimizer, parameterType: categorical, feasibleSpace: {list: [sgd, adam]}}
    - {name: batch, parameterType: discrete, feasibleSpace: {list: ["64", "32"]}}
  trialTemplate:
    primaryContainerName: training
    trialParameters:
      - {name: learningRate, reference: lr}
      - {name: layers, reference: layers}
    trialSpec:
      apiVersion: batch/v1
      kind: Job
      spec:
        template:
          spec:
            containers:
              - name: training
                image: docker.io/org/train:1
                command: [python3, /opt/train.py, "--lr=${trialParameters.learningRate}"]
                args: ["--layers=${trialParameters.layers}"]
                env: [{name: MODE, value: fast}]
                resources: {limits: {memory: 2Gi, cpu: "1", nvidia.com/gpu: 1}}
                volumeMounts: []
            restartPolicy: Never
)";

TEST_F(KatibTest, BecomesAStudyWithItsJob) {
  const auto study = ReadStudy(Write("katib.yaml", kExperiment), {});
  ASSERT_THAT(study, IsOk());
  const StudySpec& spec = study->spec;
  EXPECT_EQ(spec.name, "tune-digits");
  EXPECT_EQ(spec.objectives.front().final, FinalValue::kBest);
  EXPECT_EQ(spec.parallel, 3);
  EXPECT_EQ(spec.budget.trials, 12);
  EXPECT_EQ(spec.budget.failed_trials, 4);  // Katib fails with more than 3.
  EXPECT_EQ(spec.stopping.name, "median");
  EXPECT_EQ(ParameterOf(*study, "lr"), R"({"float":[0.01,0.03],"scale":"linear"})");
  EXPECT_EQ(ParameterOf(*study, "layers"), R"({"int":[1,9],"scale":"linear","step":2})");
  EXPECT_EQ(ParameterOf(*study, "decay"), R"({"float":[1e-05,0.1],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "batch"), R"({"discrete":[32.0,64.0]})");
  EXPECT_EQ(spec.job->image, "docker.io/org/train:1");
  EXPECT_EQ(spec.job->command, (std::vector<std::string>{"python3", "/opt/train.py", "--lr={lr}"}));
  EXPECT_EQ(spec.job->args, (std::vector<std::string>{"--layers={layers}"}));
  EXPECT_EQ(Definition(*study)["job"]["replicas"]["chief"]["gpus"], 1);
  EXPECT_THAT(study->notes, Contains(HasSubstr("spec.objective.goal: left out")));
  EXPECT_THAT(study->notes, Contains("spec.algorithm: 'tpe' of Katib is gp here"));
  EXPECT_THAT(study->notes, Contains("spec.earlyStopping.algorithmSettings: left out"));
  EXPECT_THAT(study->notes, Contains("spec.trialTemplate container.volumeMounts: left out"));
}

constexpr std::string_view kList = R"(
apiVersion: v1
kind: List
items:
- apiVersion: kubeflow.org/v1beta1
  kind: Experiment
  metadata: {name: small}
  spec:
    objective: {type: minimize, objectiveMetricName: loss}
    algorithm: {algorithmName: random}
    parameters: [{name: lr, parameterType: double, feasibleSpace: {min: "0", max: "1"}}]
- apiVersion: kubeflow.org/v1beta1
  kind: Trial
  metadata: {name: small-a}
  spec: {parameterAssignments: [{name: lr, value: "0.5"}]}
  status:
    startTime: "2026-11-01T10:00:00Z"
    conditions:
    - {type: Created, status: "True"}
    - {type: Running, status: "False"}
    - {type: Succeeded, status: "True", message: done}
    observation: {metrics: [{name: loss, latest: "0.25", min: "0.2", max: "0.9"}]}
- kind: Trial
  metadata: {name: small-b}
  spec: {parameterAssignments: [{name: lr, value: "0.6"}]}
  status: {conditions: [{type: Failed, status: "True", message: exit 1}]}
- kind: Trial
  metadata: {name: small-c}
  spec: {parameterAssignments: [{name: lr, value: "0.7"}]}
  status:
    conditions: [{type: EarlyStopped, status: "True", message: stopped}]
    observation: {metrics: [{name: loss, latest: "0.5"}]}
)";

TEST_F(KatibTest, AListHasItsTrials) {
  const auto study = ReadStudy(Write("list.yaml", kList), {});
  ASSERT_THAT(study, IsOk());
  ASSERT_EQ(study->trials.size(), 3U);
  EXPECT_EQ(study->trials[0].last->metrics.at("loss"), 0.25);
  EXPECT_EQ(study->trials[1].failed->message, "exit 1");
  EXPECT_EQ(study->trials[2].stopped, "stopped");
  EXPECT_EQ(study->trials[2].last->metrics.at("loss"), 0.5);
  EXPECT_THAT(study->notes,
              Contains(HasSubstr("the study has no job, and clients run its trials")));
}

TEST_F(KatibTest, AnExperimentAloneHasItsBestTrial) {
  const std::string best = R"(
status:
  currentOptimalTrial:
    bestTrialName: tune-digits-x
    parameterAssignments:
    - {name: lr, value: "0.02"}
    - {name: layers, value: "3"}
    - {name: decay, value: "0.001"}
    - {name: optimizer, value: adam}
    - {name: batch, value: "32"}
    observation: {metrics: [{name: accuracy, latest: "0.9", max: "0.95", min: "0.1"}]}
)";
  const auto study = ReadStudy(Write("k.yaml", std::string(kExperiment) + best), {});
  ASSERT_THAT(study, IsOk());
  ASSERT_EQ(study->trials.size(), 1U);
  EXPECT_EQ(study->trials[0].last->metrics.at("accuracy"), 0.95);
  EXPECT_THAT(study->notes, Contains(HasSubstr("trials: an Experiment names its best one only")));
}

TEST_F(KatibTest, NamesWhatIsWrong) {
  EXPECT_THAT(
      ReadStudy(Write("k.yaml", "apiVersion: v1\nkind: List\nitems: []\n"), {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("items: must hold an Experiment")));
  EXPECT_THAT(
      ReadStudy(
          Write("k.yaml",
                "apiVersion: kubeflow.org/v1beta1\nkind: Experiment\nmetadata: {name: a}\nspec:\n"
                "  parameters: [{name: x, parameterType: double, feasibleSpace: {min: a}}]\n"),
          {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("spec.parameters.x.feasibleSpace: needs numbers min and max")));
}

constexpr std::string_view kDetermined = R"(
name: mnist
entrypoint: python3 train.py --verbose
max_restarts: 2
workspace: lab
resources: {slots_per_trial: 1, priority: 42}
hyperparameters:
  learning_rate: {type: log, base: 10, minval: -4, maxval: -1}
  dropout: {type: double, minval: 0.1, maxval: 0.5, count: 5}
  hidden: {type: int, minval: 32, maxval: 128}
  optimizer: {type: categorical, vals: [sgd, adam]}
  data: {batch: {type: categorical, vals: [16, 32]}, path: /data}
  epochs: {type: const, val: 3}
searcher:
  name: adaptive_asha
  metric: validation_loss
  smaller_is_better: true
  max_trials: 16
  max_concurrent_trials: 4
  max_length: {epochs: 3}
)";

TEST_F(DeterminedTest, BecomesAStudyWithItsJob) {
  const auto study = ReadStudy(Write("d.yaml", kDetermined), {});
  ASSERT_THAT(study, IsOk());
  const StudySpec& spec = study->spec;
  EXPECT_EQ(study->format, "determined");
  EXPECT_EQ(spec.name, "mnist");
  EXPECT_EQ(spec.objectives,
            (std::vector<Objective>{{.metric = "validation_loss", .goal = Goal::kMinimize}}));
  EXPECT_EQ(spec.budget.trials, 16);
  EXPECT_EQ(spec.parallel, 4);
  EXPECT_EQ(spec.stopping.name, "hyperband");
  EXPECT_EQ(ParameterOf(*study, "learning_rate"), R"({"float":[0.0001,0.1],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "dropout"), R"({"float":[0.1,0.5],"scale":"linear","points":5})");
  EXPECT_EQ(ParameterOf(*study, "data.batch"), R"({"discrete":[16.0,32.0]})");
  EXPECT_EQ(spec.job->command,
            (std::vector<std::string>{
                "python3", "train.py", "--verbose", "--data.path=/data", "--epochs=3"}));
  for (const char* const left_out : {"workspace", "resources.priority", "searcher.max_length"}) {
    EXPECT_THAT(study->notes, Contains(std::string(left_out) + ": left out"));
  }
}

TEST_F(DeterminedTest, AClassOfPythonIsNoJob) {
  const auto study = ReadStudy(Write("d.yaml",
                                     "name: a\nentrypoint: model_def:MNISTTrial\n"
                                     "hyperparameters: {x: {type: double, minval: 0, maxval: 1}}\n"
                                     "searcher: {name: random, metric: loss, max_trials: 4}\n"),
                               {});
  ASSERT_THAT(study, IsOk());
  EXPECT_FALSE(study->spec.job.has_value());
  EXPECT_EQ(study->spec.stopping.name, "none");
  EXPECT_THAT(study->notes, Contains(HasSubstr("entrypoint: is no command")));
}

TEST_F(FormatsTest, AreFoundOutOrRefused) {
  EXPECT_THAT(
      ReadStudy(Write("x.bin", "hello"), {}),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          HasSubstr(
              "x.bin: is in none of the known formats; --format names one of optuna, vizier")));
  EXPECT_THAT(ReadStudy(Write("x.yaml", "a: 1\n"), {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("x.yaml: is in none of the known formats")));
  EXPECT_THAT(ReadStudy(Write("x.yaml", "a: [\n"), {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.yaml: line ")));
  EXPECT_THAT(
      ReadStudy(Write("x.csv", "a\n1\n"), {.format = "excel"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("format: must be one of optuna")));
  EXPECT_THAT(ReadStudy((folder_ / "none.db").string(), {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such file, or not readable")));
  EXPECT_THAT(ReadStudy("/dev/zero", {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is a device")));
  EXPECT_THAT(ReadStudy(DataPath("vizier.db"), {.format = "optuna"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("vizier.db: is damaged, or written by an unknown version of its "
                                 "tool: no such table: study_directions")));
}

}  // namespace
}  // namespace vernier::imports
