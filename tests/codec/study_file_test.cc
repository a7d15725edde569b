#include "src/codec/study_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/event_json.h"
#include "src/codec/json_text.h"
#include "tests/codec/random_event.h"
#include "tests/support/status_matchers.h"

namespace vernier::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

constexpr char kEverything[] = R"(
study: digits
objective: {maximize: accuracy}
parameters:
  lr:        {float: [1e-5, 0.1], scale: log, default: 1e-3}
  width:     {int: [16, 256], scale: log}
  dropout:   {float: [0, 0.5], step: 0.1}
  batch:     {discrete: [16, 32, 64]}
  optimizer: {categorical: [sgd, adam]}
  momentum:  {float: [0.5, 0.99], points: 4, when: {optimizer: [sgd]}}
  warmup:    {int: [0, 100], when: {batch: 32}}
  augment:   {bool: {}, default: true}
constraints: ["width * batch <= 8192"]
outcome_constraints: ["latency_ms <= 20"]
algorithm: {name: gp, num_restarts: 4, kernel: matern, verbose: off, tolerance: 1e-6}
warm_start: [digits-v1, digits-v2]
stopping: {rule: median, min_trials: 3}
parallel: 2
budget: {trials: 20, failed: 5, time: 2h, gpu_hours: 0.5}
convergence: {tolerance: 0.001, stop: true}
seed: 7
metrics: {accuracy: {regex: 'val_acc=([0-9.eE+-]+)'}}
lease: {ttl: 90s, on_expiry: fail}
job:
  command: [python3, train.py, --epochs, "5"]
  args: ["--fast"]
  env: {MODE: "on", API_KEY: {from_file: ~/.key}}
  replicas:
    chief: 1
    worker: {count: 2, gpus: 1, gpu_memory: 6GiB, cpus: 2, memory: 4GiB, env: {OMP_NUM_THREADS: "1", DB: {secret: db}}}
  dir: runs/digits
  working_dir: /srv
  limits: {time: 30m, grace: 5s, output: 2GiB}
  priority: 7
  pausable: true
)";

StudySpec ParseStudy(std::string_view text) {
  absl::StatusOr<StudySpec> spec = ParseStudyFile(text);
  EXPECT_THAT(spec, IsOk());
  return spec.ok() ? *std::move(spec) : StudySpec();
}

const Parameter& ParameterNamed(const StudySpec& spec, std::string_view name) {
  return spec.space.parameters().at(static_cast<std::size_t>(spec.space.Find(name).value()));
}

TEST(StudyFile, JudgesTrialsOfAJobUnlessItSaysOtherwise) {
  const std::string clients =
      "study: s\nobjective: {maximize: m}\nparameters: {x: {float: [0, 1]}}\n";
  const std::string job = clients + "job: {command: [train]}\n";
  EXPECT_EQ(ParseStudy(clients).stopping.name, "none");
  EXPECT_EQ(ParseStudy(job).stopping.name, "automatic");
  EXPECT_EQ(ParseStudy(job + "stopping: none\n").stopping.name, "none");
  EXPECT_EQ(ParseStudy("study: s\nobjective: [{maximize: m}, {minimize: n}]\n"
                       "parameters: {x: {float: [0, 1]}}\njob: {command: [train]}\n")
                .stopping.name,
            "none");
  EXPECT_EQ(ParseStudy("study: alone\njob: {command: [train]}\n").stopping.name, "none");
  // What is stored says it in full, so that a study keeps the rule that it has.
  EXPECT_EQ(StudySpecToJson(ParseStudy(clients))["stopping"], "none");
}

TEST(StudyFile, ReadsTheSpace) {
  const StudySpec spec = ParseStudy(kEverything);
  std::vector<std::string> names;
  for (const Parameter& parameter : spec.space.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(
      names,
      ElementsAre("lr", "width", "dropout", "batch", "optimizer", "momentum", "warmup", "augment"));
  EXPECT_EQ(ParameterNamed(spec, "lr").domain, Domain(FloatDomain{1e-5, 0.1, Scale::kLog}));
  EXPECT_EQ(ParameterNamed(spec, "lr").default_value, ParameterValue(1e-3));
  EXPECT_EQ(ParameterNamed(spec, "width").domain, Domain(IntDomain{16, 256, Scale::kLog}));
  EXPECT_EQ(ParameterNamed(spec, "dropout").domain,
            Domain(FloatDomain{.lower = 0, .upper = 0.5, .step = 0.1}));
  EXPECT_EQ(ParameterNamed(spec, "batch").domain, Domain(DiscreteDomain{{16, 32, 64}}));
  EXPECT_EQ(ParameterNamed(spec, "optimizer").domain,
            Domain(CategoricalDomain{{std::string("sgd"), std::string("adam")}}));
  EXPECT_THAT(ParameterNamed(spec, "momentum").when,
              ElementsAre(Condition{"optimizer", {std::string("sgd")}}));
  EXPECT_EQ(ParameterNamed(spec, "augment").default_value, ParameterValue(true));
  EXPECT_THAT(spec.space.constraints(), ElementsAre("width * batch <= 8192"));
}

TEST(StudyFile, AConditionOnAListOfNumbersHoldsDoubles) {
  const StudySpec spec = ParseStudy(kEverything);
  EXPECT_THAT(ParameterNamed(spec, "warmup").when, ElementsAre(Condition{"batch", {32.0}}));
}

TEST(StudyFile, ReadsTheRest) {
  const StudySpec spec = ParseStudy(kEverything);
  EXPECT_EQ(spec.name, "digits");
  EXPECT_THAT(spec.objectives, ElementsAre(Objective{"accuracy", Goal::kMaximize}));
  EXPECT_THAT(spec.outcome_constraints, ElementsAre("latency_ms <= 20"));
  EXPECT_EQ(spec.algorithm.name, "gp");
  EXPECT_EQ(spec.algorithm.options.at("num_restarts"), ParameterValue(std::int64_t{4}));
  EXPECT_EQ(spec.algorithm.options.at("verbose"), ParameterValue(std::string("off")));
  EXPECT_EQ(spec.algorithm.options.at("tolerance"), ParameterValue(1e-6));
  EXPECT_THAT(spec.warm_start, ElementsAre("digits-v1", "digits-v2"));
  EXPECT_EQ(spec.stopping.name, "median");
  EXPECT_EQ(spec.parallel, 2);
  EXPECT_EQ(spec.budget,
            (Budget{.trials = 20, .failed_trials = 5, .time = absl::Hours(2), .gpu_hours = 0.5}));
  EXPECT_EQ(spec.convergence, (Convergence{.tolerance = 0.001, .stop = true}));
  EXPECT_EQ(spec.seed, 7u);
  EXPECT_EQ(spec.metrics.at("accuracy").text, "val_acc=([0-9.eE+-]+)");
  EXPECT_EQ(spec.lease, (LeasePolicy{absl::Seconds(90), LeaseExpiry::kFail}));
}

TEST(StudyFile, ReadsWhereMetricsComeFrom) {
  const StudySpec spec = ParseStudy(R"(
study: s
objective: [{minimize: loss, final: mean_of_last(5)}, {maximize: acc, final: best}]
parameters: {x: {bool: {}}}
metrics:
  loss: {after: 'loss='}
  acc: {tfevents: validation/epoch_accuracy, folder: logs, from: evaluator}
  time: {json: took.seconds}
  size: {hypertune: bytes}
  speed: {}
job: {command: [a], replicas: {chief: 1, evaluator: 1}, limits: {nan: 3}}
)");
  EXPECT_THAT(spec.objectives,
              ElementsAre(Objective{"loss", Goal::kMinimize, FinalValue::kMeanOfLast, 5},
                          Objective{"acc", Goal::kMaximize, FinalValue::kBest}));
  EXPECT_EQ(spec.metrics.at("loss"),
            (MetricSource{.kind = MetricSourceKind::kAfter, .text = "loss="}));
  EXPECT_EQ(spec.metrics.at("acc"),
            (MetricSource{.kind = MetricSourceKind::kTfevents,
                          .text = "validation/epoch_accuracy",
                          .folder = "logs",
                          .from = Role::kEvaluator}));
  EXPECT_EQ(spec.metrics.at("time").kind, MetricSourceKind::kJson);
  EXPECT_EQ(spec.metrics.at("size").kind, MetricSourceKind::kHypertune);
  EXPECT_EQ(spec.metrics.at("speed"), MetricSource{});
  EXPECT_EQ(spec.job->nan_limit, 3);
  EXPECT_EQ(ParseStudy(StudySpecToYaml(spec)), spec);
}

TEST(StudyFile, ReadsTheJob) {
  const StudySpec spec = ParseStudy(kEverything);
  ASSERT_TRUE(spec.job.has_value());
  const TrainingJob& job = *spec.job;
  EXPECT_THAT(job.command, ElementsAre("python3", "train.py", "--epochs", "5"));
  EXPECT_THAT(job.args, ElementsAre("--fast"));
  EXPECT_THAT(job.env, ElementsAre(Pair("MODE", "on")));
  EXPECT_THAT(job.secrets, ElementsAre(Pair("API_KEY", SecretSource{.from_file = "~/.key"})));
  EXPECT_EQ(job.job_directory, "runs/digits");
  EXPECT_EQ(job.working_directory, "/srv");
  EXPECT_EQ(job.time_limit, absl::Minutes(30));
  EXPECT_EQ(job.grace, absl::Seconds(5));
  EXPECT_EQ(job.output_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(job.priority, 7);
  EXPECT_TRUE(job.pausable);
  EXPECT_EQ(job.replicas.at(Role::kPrimary), ReplicaSpec{});
  const ReplicaSpec& worker = job.replicas.at(Role::kWorker);
  EXPECT_EQ(worker.count, 2);
  EXPECT_EQ(worker.resources,
            (Resources{.cpus = 2,
                       .memory_bytes = std::int64_t{4} << 30,
                       .gpus = 1,
                       .gpu_memory_bytes = std::int64_t{6} << 30}));
  EXPECT_THAT(worker.env, ElementsAre(Pair("OMP_NUM_THREADS", "1")));
  EXPECT_THAT(worker.secrets, ElementsAre(Pair("DB", SecretSource{.name = "db"})));
}

TEST(StudyFile, ReadsHowAJobIsLimitedAndTriedAgain) {
  const std::string text =
      "study: tiny\nobjective: {minimize: loss}\nparameters: {x: {float: [0, 1]}}\n"
      "job:\n  command: train\n"
      "  limits: {time: 30m, trial: 2h, wait: 1d, progress: 10m}\n"
      "  restarts: {reading: lenient, replica: 2, job: 0, internal: 1}\n";
  const StudySpec spec = ParseStudy(text);
  EXPECT_EQ(spec.job->time_limit, absl::Minutes(30));
  EXPECT_EQ(spec.job->trial_limit, absl::Hours(2));
  EXPECT_EQ(spec.job->wait_limit, absl::Hours(24));
  EXPECT_EQ(spec.job->progress_limit, absl::Minutes(10));
  const RestartPolicy restarts{
      .reading = FailureReading::kLenient, .replica = 2, .job = 0, .internal = 1};
  EXPECT_EQ(spec.job->restarts, restarts);
  EXPECT_EQ(ParseStudy(StudySpecToYaml(spec)).job, spec.job);
}

TEST(StudyFile, AJobMayBeAnImageAlone) {
  const StudySpec spec = ParseStudy(
      "study: tiny\nobjective: {minimize: loss}\nparameters: {x: {float: [0, 1]}}\n"
      "job:\n  image: org/trainer:1\n  replicas: {chief: 1, worker: {image: org/worker:1}}\n");
  EXPECT_EQ(spec.job->image, "org/trainer:1");
  EXPECT_THAT(spec.job->command, ElementsAre());
  EXPECT_EQ(spec.job->replicas.at(Role::kPrimary).image, "");
  EXPECT_EQ(spec.job->replicas.at(Role::kWorker).image, "org/worker:1");
  EXPECT_EQ(ParseStudy(StudySpecToYaml(spec)).job, spec.job);
}

TEST(StudyFile, ThreeLinesOfJobAreEnough) {
  const StudySpec spec = ParseStudy(
      "study: tiny\nobjective: {minimize: loss}\nparameters: {x: {float: [0, 1]}}\n"
      "job: {command: \"python3 'my train.py' --quiet\"}\n");
  ASSERT_TRUE(spec.job.has_value());
  EXPECT_THAT(spec.job->command, ElementsAre("python3", "my train.py", "--quiet"));
  EXPECT_EQ(spec.job->replicas.at(Role::kPrimary).count, 1);
  EXPECT_EQ(spec.algorithm.name, "gp");
  EXPECT_EQ(spec.stopping.name, "automatic");
  EXPECT_EQ(spec.parallel, 1);
  EXPECT_EQ(spec.budget, Budget{});
}

TEST(StudyFile, ATrainerMayBeNamedInsteadOfAProgram) {
  const std::string head =
      "study: built_in\nobjective: {minimize: loss}\nparameters: {eta: {float: [0, 1]}}\n";
  const StudySpec spec = ParseStudy(head + "job: {trainer: xgboost, args: [--preprocess]}\n");
  ASSERT_TRUE(spec.job.has_value() && spec.job->python.has_value());
  EXPECT_EQ(*spec.job->python, PythonProgram{.module = "vernier_trainers.xgboost"});
  EXPECT_TRUE(spec.job->command.empty());
  EXPECT_EQ(StudySpecToJson(spec)["job"]["trainer"], "xgboost");
  EXPECT_EQ(ParseStudy(StudySpecToYaml(spec)).job, spec.job);
  const StudySpec longer =
      ParseStudy(head + "job: {python: {module: vernier_trainers.xgboost, packages: [xgboost]}}\n");
  EXPECT_FALSE(StudySpecToJson(longer)["job"].contains("trainer"));
  EXPECT_EQ(ParseStudy(StudySpecToYaml(longer)).job, longer.job);
}

TEST(StudyFile, APrimaryMayBeCalledMaster) {
  const StudySpec spec = ParseStudy(
      "study: tf1\nobjective: {minimize: loss}\nparameters: {x: {float: [0, 1]}}\n"
      "job: {command: [train], replicas: {master: 1, ps: 2}}\n");
  ASSERT_TRUE(spec.job.has_value());
  EXPECT_EQ(spec.job->primary_name, "master");
  EXPECT_EQ(spec.job->replicas.at(Role::kParameterServer).count, 2);
  EXPECT_TRUE(StudySpecToJson(spec)["job"]["replicas"].contains("master"));
}

TEST(StudyFile, EmptySectionsCountAsAbsent) {
  const StudySpec spec =
      ParseStudy("study: s\nobjective: {minimize: y}\nparameters: {x: {bool: }}\nbudget:\njob:\n");
  EXPECT_FALSE(spec.job.has_value());
  EXPECT_EQ(spec.budget, Budget{});
}

TEST(StudyFile, JsonIsReadAsJson) {
  const StudySpec spec = ParseStudy(
      R"( {"study": "s", "objective": {"minimize": "y\u00e9"}, "parameters": {"x": {"int": [1, 9]}}})");
  EXPECT_EQ(spec.objectives.front().metric, "y\xC3\xA9");
}

TEST(StudyFile, FlowYamlMayStartWithABrace) {
  const StudySpec spec =
      ParseStudy("{study: s, objective: {minimize: y}, parameters: {x: {int: [1, 9]}}}");
  EXPECT_EQ(spec.name, "s");
}

TEST(StudyFile, JsonAndYamlFormsReadBackEqual) {
  const StudySpec spec = ParseStudy(kEverything);
  ASSERT_OK_AND_ASSIGN(const StudySpec from_json, StudySpecFromJson(StudySpecToJson(spec)));
  EXPECT_EQ(from_json, spec);
  ASSERT_OK_AND_ASSIGN(const auto stored, ReadStoredJson(ToText(StudySpecToJson(spec))));
  ASSERT_OK_AND_ASSIGN(const StudySpec from_text, StudySpecFromJson(stored));
  EXPECT_EQ(from_text, spec);
  ASSERT_OK_AND_ASSIGN(const StudySpec from_yaml, ParseStudyFile(StudySpecToYaml(spec)));
  EXPECT_EQ(from_yaml, spec) << StudySpecToYaml(spec);
}

struct ArgumentCase {
  std::string text;  // What the parameter says beside its domain.
  ParameterArgument argument;
};

TEST(StudyFile, ReadsAndWritesHowAProgramIsGivenItsParameters) {
  using Style = ArgumentStyle;
  const ArgumentCase cases[] = {
      {"bool: {flag: true}", {Style::kFlag, ""}},
      {"bool: {flag: --nesterov}", {Style::kFlag, "--nesterov"}},
      {"bool: {flag: -n}", {Style::kFlag, "-n"}},
      {"bool: {flag: --no-nesterov}", {Style::kAbsentFlag, "--no-nesterov"}},
      {"bool: {flag: --no-nesterov, if: true}", {Style::kFlag, "--no-nesterov"}},
      {"bool: {flag: --plain, if: false}", {Style::kAbsentFlag, "--plain"}},
      {"bool: {flag: true, if: false}", {Style::kAbsentFlag, ""}},
      {"float: [0, 1], arg: --learning_rate", {Style::kOption, "--learning_rate"}},
      {"float: [0, 1], arg: --learning_rate=", {Style::kOption, "--learning_rate"}},
      {"int: [0, 1], arg: {option: -l}", {Style::kOption, "-l"}},
      {"discrete: [0, 1], arg: -l", {Style::kSeparate, "-l"}},
      {"categorical: [a, b], arg: {separate: --lr}", {Style::kSeparate, "--lr"}},
      {"float: [0, 1], arg: 'model.lr='", {Style::kAssignment, "model.lr"}},
      {"float: [0, 1], arg: {assignment: --odd}", {Style::kAssignment, "--odd"}},
      {"float: [0, 1], arg: 'env:LR'", {Style::kVariable, "LR"}},
      {"float: [0, 1], arg: {env: LR}", {Style::kVariable, "LR"}},
      {"float: [0, 1], arg: env", {Style::kVariable, ""}},
      {"float: [0, 1], arg: positional", {Style::kPositional, ""}},
      {"float: [0, 1], arg: file", {Style::kFile, ""}},
      {"float: [0, 1], arg: option", {Style::kOption, ""}},
      {"float: [0, 1], arg: separate", {Style::kSeparate, ""}},
      {"float: [0, 1], arg: assignment", {Style::kAssignment, ""}}};
  for (const ArgumentCase& c : cases) {
    for (const char* const style : {"option", "env"}) {
      const StudySpec spec =
          ParseStudy("study: s\nobjective: {minimize: y}\nparameters: {p: {" + c.text +
                     "}}\njob: {command: [a], arguments: " + style + "}\n");
      ASSERT_TRUE(spec.job.has_value()) << c.text;
      EXPECT_EQ(spec.job->arguments.at("p"), c.argument) << c.text;
      ASSERT_OK_AND_ASSIGN(const StudySpec from_json, StudySpecFromJson(StudySpecToJson(spec)));
      EXPECT_EQ(from_json, spec) << c.text;
      ASSERT_OK_AND_ASSIGN(const StudySpec from_yaml, ParseStudyFile(StudySpecToYaml(spec)));
      EXPECT_EQ(from_yaml, spec) << StudySpecToYaml(spec);
    }
  }
}

TEST(StudyFile, AnOptionIsGivenItsValueAsTheJobSays) {
  const auto read = [](const std::string& argument) {
    return ParseStudy("study: s\nobjective: {minimize: y}\nparameters: {p: {float: [0, 1], arg: " +
                      argument + "}}\njob: {command: [a], arguments: separate}\n");
  };
  EXPECT_EQ(read("--lr").job->argument_style, ArgumentStyle::kSeparate);
  EXPECT_EQ(read("--lr").job->arguments.at("p").style, ArgumentStyle::kSeparate);
  EXPECT_EQ(read("--lr=").job->arguments.at("p").style, ArgumentStyle::kOption);
  for (const char* const argument : {"--lr", "--lr="}) {
    const StudySpec spec = read(argument);
    ASSERT_OK_AND_ASSIGN(const StudySpec again, ParseStudyFile(StudySpecToYaml(spec)));
    EXPECT_EQ(again, spec) << StudySpecToYaml(spec);
  }
}

TEST(StudyFile, MadeUpStudiesReadBackEqual) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    StudySpec spec = vernier::testing::RandomSpec(rng, "made-up");
    spec.foreign.reset();  // A file defines a study of its own.
    ASSERT_OK_AND_ASSIGN(const StudySpec read, ParseStudyFile(StudySpecToYaml(spec)));
    EXPECT_EQ(read, spec) << StudySpecToYaml(spec);
  }
}

TEST(StudyFile, AStudyOfAnotherServiceMayNameNoObjective) {
  for (const bool has_parameter : {true, false}) {
    StudySpec spec;
    spec.name = "s";
    if (has_parameter) spec.space = Space::Create({{.name = "x", .domain = FloatDomain{}}}).value();
    spec.foreign = ForeignDefinition{.service = "vizier", .name = "n", .definition = "d"};
    ASSERT_OK_AND_ASSIGN(
        const EventPayload stored,
        PayloadFromJson("study_created",
                        nlohmann::ordered_json::object({{"spec", StudySpecToJson(spec)}})));
    EXPECT_EQ(std::get<StudyCreated>(stored).spec, spec);
    // A user's file cannot say so.
    EXPECT_THAT(ParseStudyFile(StudySpecToJson(spec).dump()),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(ParseStudyFile(StudySpecToYaml(spec)),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(StudyFile, JsonFillsInEveryDefault) {
  const StudySpec spec =
      ParseStudy("study: s\nobjective: {minimize: y}\nparameters: {x: {float: [0, 1]}}\n");
  EXPECT_EQ(ToText(StudySpecToJson(spec)),
            R"({"study":"s","objective":{"minimize":"y"},)"
            R"("parameters":{"x":{"float":[0.0,1.0],"scale":"linear"}},)"
            R"("algorithm":"gp","stopping":"none","parallel":1,"seed":0,)"
            R"("lease":{"ttl":"1m","on_expiry":"offer"}})");
}

TEST(StudyFile, AStoredStudyMayHaveKeysOfANewerProgram) {
  const StudySpec spec = ParseStudy(kEverything);
  nlohmann::ordered_json json = StudySpecToJson(spec);
  json["colour"] = "blue";
  json["job"]["replicas"]["worker"]["tpu"] = 8;
  json["parameters"]["lr"]["prior"] = "beta";
  EXPECT_THAT(StudySpecFromJson(json), StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_OK_AND_ASSIGN(
      const EventPayload read,
      PayloadFromJson("study_created", nlohmann::ordered_json::object({{"spec", json}})));
  EXPECT_EQ(std::get<StudyCreated>(read).spec, spec);
}

TEST(StudyFile, MemoryIsReadInItsUnits) {
  const std::vector<std::pair<std::string, std::int64_t>> cases = {
      {"4GiB", std::int64_t{4} << 30},
      {"1.5GiB", std::int64_t{3} << 29},
      {"512 MiB", std::int64_t{512} << 20},
      {"2GB", 2'000'000'000},
      {"1048576", 1048576},
      {"0", 0},
      {"7B", 7},
      {"3TiB", std::int64_t{3} << 40},
      {"\"9\"", -1},
      {"9e9GiB", -1},
      {"99999999TiB", -1},
      {"4 gib", -1},
  };
  for (const auto& [text, bytes] : cases) {
    const absl::StatusOr<StudySpec> spec = ParseStudyFile(
        "study: s\nobjective: {minimize: y}\nparameters: {x: {int: [0, 1]}}\n"
        "job: {command: [t], replicas: {chief: {memory: " +
        text + "}}}\n");
    EXPECT_EQ(spec.ok() ? spec->job->replicas.at(Role::kPrimary).resources.memory_bytes : -1, bytes)
        << text;
  }
}

}  // namespace
}  // namespace vernier::codec
