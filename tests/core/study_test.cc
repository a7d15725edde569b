#include "vernier/core/study.h"

#include <cmath>
#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

using ::testing::StartsWith;
using ::vernier::testing::IsOk;
using ::vernier::testing::kNan;
using ::vernier::testing::StatusIs;

TEST(IsBetter, FollowsTheGoal) {
  EXPECT_TRUE(IsBetter(Goal::kMaximize, 2, 1));
  EXPECT_FALSE(IsBetter(Goal::kMaximize, 1, 2));
  EXPECT_TRUE(IsBetter(Goal::kMinimize, 1, 2));
  EXPECT_FALSE(IsBetter(Goal::kMinimize, 2, 1));
  EXPECT_FALSE(IsBetter(Goal::kMaximize, 1, 1));
  EXPECT_FALSE(IsBetter(Goal::kMinimize, 1, 1));
}

TEST(IsBetter, NothingIsWorseThanNan) {
  for (const Goal goal : {Goal::kMaximize, Goal::kMinimize}) {
    EXPECT_TRUE(IsBetter(goal, 1, kNan));
    EXPECT_TRUE(IsBetter(goal, -std::numeric_limits<double>::infinity(), kNan));
    EXPECT_FALSE(IsBetter(goal, kNan, 1));
    EXPECT_FALSE(IsBetter(goal, kNan, kNan));
  }
}

StudySpec SoundStudy() {
  StudySpec spec;
  spec.name = "digits";
  spec.objectives = {{.metric = "accuracy"}};
  spec.outcome_constraints = {"latency_ms <= 20"};
  spec.budget = {.trials = 20, .failed_trials = 5, .time = absl::Hours(2)};
  spec.labels = {{"team-1", "vision_2"}, {"größe", std::string(63, 'x')}, {"empty", ""}};
  spec.metrics = {{"val-loss", {.kind = MetricSourceKind::kRegex, .text = "loss=(.*)"}}};
  TrainingJob job;
  job.command = {"python3", "train.py"};
  job.env = {{"OMP_NUM_THREADS", "1"}};
  job.replicas[Role::kWorker] = {.count = 2, .resources = {.cpus = 0.5, .gpus = 1}};
  job.time_limit = absl::Minutes(30);
  spec.job = job;
  return spec;
}

TEST(ValidateStudy, AcceptsSoundOnes) {
  EXPECT_THAT(Validate(SoundStudy()), IsOk());
  StudySpec without_job = SoundStudy();
  without_job.job.reset();
  EXPECT_THAT(Validate(without_job), IsOk());
  StudySpec several = SoundStudy();
  several.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  EXPECT_THAT(Validate(several), IsOk());
}

TEST(ValidateStudy, KnowsMetricNamesWithDashesInOutcomeConstraints) {
  StudySpec spec = SoundStudy();
  spec.outcome_constraints = {"val-loss < 1 and accuracy - latency_ms > 0"};
  EXPECT_THAT(Validate(spec), IsOk());
}

TEST(ValidateStudy, AReplicaMayBringItsOwnCommand) {
  StudySpec spec = SoundStudy();
  spec.job->command.clear();
  for (auto& [role, replica] : spec.job->replicas) replica.command = {"run"};
  spec.job->replicas[Role::kEvaluator] = {.count = 0};
  EXPECT_THAT(Validate(spec), IsOk());
}

TEST(ValidateStudy, WithCodeAFolderMayBeginWithDotsButNotLeaveIt) {
  StudySpec spec = SoundStudy();
  spec.job->code = CodeSnapshot{.archive = {}, .sha256 = {}, .folder = "."};
  for (const char* directory : {"", ".", "..data", "a/../..data/b"}) {
    spec.job->working_directory = directory;
    EXPECT_THAT(Validate(spec), IsOk()) << directory;
  }
  for (const char* directory : {"..", "../a", "a/../../b", "/a"}) {
    spec.job->working_directory = directory;
    EXPECT_EQ(GetField(Validate(spec)), "job.working_dir") << directory;
  }
}

TEST(ValidateStudy, AnImageNeedsNoCommand) {
  StudySpec spec = SoundStudy();
  spec.job->command.clear();
  spec.job->image = "docker.io/org/trainer@sha256:0123";
  spec.job->working_directory.clear();
  spec.job->replicas[Role::kWorker].image = "localhost:5000/worker:1";
  for (const char* directory : {"", "/out", "gs://bucket/out"}) {
    spec.job->job_directory = directory;
    EXPECT_THAT(Validate(spec), IsOk()) << directory;
  }
  spec.job->working_directory = "/src";
  spec.job->job_directory = "out";
  EXPECT_THAT(Validate(spec), IsOk());
}

struct StudyCase {
  std::string name;
  std::function<void(StudySpec&)> spoil;
  std::string error;
};

class StudyRules : public ::testing::TestWithParam<StudyCase> {};

TEST_P(StudyRules, ExplainWhatIsWrong) {
  StudySpec spec = SoundStudy();
  GetParam().spoil(spec);
  const absl::Status status = Validate(spec);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
  EXPECT_EQ(GetField(status), GetParam().error.substr(0, GetParam().error.find(": ")));
}

INSTANTIATE_TEST_SUITE_P(
    Study,
    StudyRules,
    ::testing::ValuesIn(std::vector<StudyCase>{
        {"NoName",
         [](StudySpec& s) { s.name = ""; },
         "study: must match ^[A-Za-z][A-Za-z0-9_-]{0,127}$, got ''"},
        {"NameStartsWithDigit",
         [](StudySpec& s) { s.name = "1st"; },
         "study: must match ^[A-Za-z][A-Za-z0-9_-]{0,127}$, got '1st'"},
        {"NameWithSlash",
         [](StudySpec& s) { s.name = "a/b"; },
         "study: must match ^[A-Za-z][A-Za-z0-9_-]{0,127}$, got 'a/b'"},
        {"NameTooLong",
         [](StudySpec& s) { s.name = std::string(129, 'x'); },
         "study: must match ^[A-Za-z][A-Za-z0-9_-]{0,127}$, got '" + std::string(129, 'x') + "'"},
        {"ImageLikeAnOption",
         [](StudySpec& s) { s.job->image = "--privileged"; },
         "job.image: must be an image's name such as docker.io/org/trainer:1, got '--privileged'"},
        {"ImageOfTwoWords",
         [](StudySpec& s) {
           s.job->image = "a";
           s.job->replicas[Role::kWorker].image = "b c";
         },
         "job.replicas.worker.image: must be an image's name such as docker.io/org/trainer:1, got "
         "'b c'"},
        {"ImageOfARoleAlone",
         [](StudySpec& s) { s.job->replicas[Role::kWorker].image = "b"; },
         "job.replicas.worker.image: needs job.image: either every replica runs in an image, or "
         "none"},
        {"ImageAndPackage",
         [](StudySpec& s) {
           s.job->command.clear();
           s.job->image = "a";
           s.job->python = PythonProgram{.module = "m"};
         },
         "job.image: cannot go with job.python; give one of them"},
        {"JobDirectoryNowhere",
         [](StudySpec& s) {
           s.job->image = "a";
           s.job->working_directory.clear();
           s.job->job_directory = "out";
         },
         "job.dir: must be absolute with an image and no working_dir, got 'out'"},
        {"DirectoryNowhere",
         [](StudySpec& s) {
           s.job->image = "a";
           s.job->working_directory.clear();
           s.job->replicas[Role::kWorker].directory = "w";
         },
         "job.replicas.worker.directory: must be absolute with an image and no working_dir, got "
         "'w'"},
        {"NoObjective",
         [](StudySpec& s) { s.objectives.clear(); },
         "objective: must name a metric; only a job without parameters, of one trial, needs none"},
        {"EmptyObjective",
         [](StudySpec& s) { s.objectives[0].metric = ""; },
         "objective: must name a metric"},
        {"LongObjective",
         [](StudySpec& s) { s.objectives[0].metric = std::string(200, 'm'); },
         "objective: the metric's name must have at most 128 characters, got 200"},
        {"ObjectiveTwice",
         [](StudySpec& s) { s.objectives.push_back(s.objectives[0]); },
         "objective[1]: metric 'accuracy' is an objective twice"},
        {"EmptyMetric",
         [](StudySpec& s) { s.metrics[""] = {}; },
         "metrics: a metric's name must not be empty"},
        {"OutcomeConstraint",
         [](StudySpec& s) { s.outcome_constraints.push_back("loss <="); },
         "outcome_constraints[1]: expected a number, name or '(' at column 8, got the end"},
        {"NoAlgorithm", [](StudySpec& s) { s.algorithm.name = ""; }, "algorithm: must have a name"},
        {"NoStopping", [](StudySpec& s) { s.stopping.name = ""; }, "stopping: must have a name"},
        {"NoOptionName",
         [](StudySpec& s) { s.algorithm.options[""] = 1.0; },
         "algorithm: an option's name must not be empty"},
        {"OptionNan",
         [](StudySpec& s) { s.stopping.options["quantile"] = kNan; },
         "stopping.quantile: must be finite, got nan"},
        {"ParallelZero",
         [](StudySpec& s) { s.parallel = 0; },
         "parallel: must be from 1 to 10000, got 0"},
        {"ParallelHuge",
         [](StudySpec& s) { s.parallel = 10001; },
         "parallel: must be from 1 to 10000, got 10001"},
        {"NoTrials",
         [](StudySpec& s) { s.budget.trials = 0; },
         "budget.trials: must be at least 1, got 0"},
        {"NoFailures",
         [](StudySpec& s) { s.budget.failed_trials = -1; },
         "budget.failed: must be at least 1, got -1"},
        {"NoTime",
         [](StudySpec& s) { s.budget.time = absl::ZeroDuration(); },
         "budget.time: must be above 0s, got 0"},
        {"LabelKeyOfADigit",
         [](StudySpec& s) {
           s.labels = {{"1st", ""}};
         },
         "labels: a key must begin with a lower-case letter, got '1st'"},
        {"LabelKeyEmpty",
         [](StudySpec& s) {
           s.labels = {{"", "x"}};
         },
         "labels: a key must begin with a lower-case letter, got ''"},
        {"LabelKeyWithPoint",
         [](StudySpec& s) {
           s.labels = {{"a.b", "x"}};
         },
         "labels: a key must be lower-case letters, digits, underscores and dashes, got 'a.b'"},
        {"LabelKeyTooLong",
         [](StudySpec& s) {
           s.labels = {{std::string(64, 'k'), "x"}};
         },
         "labels: a key must have at most 63 characters, got 64"},
        {"LabelValueUpperCase",
         [](StudySpec& s) {
           s.labels = {{"team", "Vision"}};
         },
         "labels.team: its value must be lower-case letters, digits, underscores and dashes, got "
         "'Vision'"},
        {"LabelValueTooLong",
         [](StudySpec& s) {
           s.labels = {{"team", std::string(64, 'v')}};
         },
         "labels.team: its value must have at most 63 characters, got 64"},
        {"TooManyLabels",
         [](StudySpec& s) {
           s.labels.clear();
           for (int i = 0; i < 65; ++i) s.labels["k" + std::to_string(i)] = "";
         },
         "labels: must be at most 64, got 65"},
        {"NoGpuHours",
         [](StudySpec& s) { s.budget.gpu_hours = 0; },
         "budget.gpu_hours: must be a finite number above 0, got 0"},
        {"GpuHoursNan",
         [](StudySpec& s) { s.budget.gpu_hours = kNan; },
         "budget.gpu_hours: must be a finite number above 0, got nan"},
        {"GpuHoursWithoutAJob",
         [](StudySpec& s) {
           s.budget.gpu_hours = 40;
           s.job.reset();
         },
         "budget.gpu_hours: needs a job: trials of clients hold no GPUs that anybody here counts"},
        {"EndlessTime",
         [](StudySpec& s) { s.budget.time = absl::InfiniteDuration(); },
         "budget.time: must be above 0s, got inf"},
        {"NegativeLease",
         [](StudySpec& s) { s.lease.ttl = -absl::Seconds(1); },
         "lease.ttl: must be above 0s, got -1s"},
    }),
    [](const auto& row) { return row.param.name; });

ReplicaSpec& Worker(StudySpec& spec) { return spec.job->replicas[Role::kWorker]; }

INSTANTIATE_TEST_SUITE_P(
    Job,
    StudyRules,
    ::testing::ValuesIn(std::vector<StudyCase>{
        {"NoCommand",
         [](StudySpec& s) { s.job->command.clear(); },
         "job.command: must not be empty; job.replicas.chief has none either"},
        {"NoCommandForWorkers",
         [](StudySpec& s) {
           s.job->command.clear();
           s.job->replicas[Role::kPrimary].command = {"run"};
         },
         "job.command: must not be empty; job.replicas.worker has none either"},
        {"EmptyProgram",
         [](StudySpec& s) {
           s.job->command = {"", "x"};
         },
         "job.command[0]: must name a program"},
        {"EmptyReplicaProgram",
         [](StudySpec& s) { Worker(s).command = {""}; },
         "job.replicas.worker.command[0]: must name a program"},
        {"ZeroByteInCommand",
         [](StudySpec& s) { s.job->command.push_back(std::string("a\0b", 3)); },
         "job.command[2]: must not hold a zero byte"},
        {"ZeroByteInArguments",
         [](StudySpec& s) { s.job->args = {std::string(1, '\0')}; },
         "job.args[0]: must not hold a zero byte"},
        {"ZeroByteInReplicaArguments",
         [](StudySpec& s) {
           Worker(s).args = {"x", std::string(1, '\0')};
         },
         "job.replicas.worker.args[1]: must not hold a zero byte"},
        {"PrimaryName",
         [](StudySpec& s) { s.job->primary_name = "boss"; },
         "job.primary_name: must be 'chief' or 'master', got 'boss'"},
        {"NoPrimary",
         [](StudySpec& s) { s.job->replicas.erase(Role::kPrimary); },
         "job.replicas: needs a chief, whose exit ends the job: add `chief: 1`, or `chief: {gpus: "
         "1}` to give it a GPU"},
        {"TwoPrimaries",
         [](StudySpec& s) {
           s.job->primary_name = "master";
           s.job->replicas[Role::kPrimary].count = 2;
         },
         "job.replicas.master.count: must be 1, got 2"},
        {"NegativeCount",
         [](StudySpec& s) { Worker(s).count = -1; },
         "job.replicas.worker.count: must be from 0 to 10000, got -1"},
        {"HugeCount",
         [](StudySpec& s) { s.job->replicas[Role::kParameterServer].count = 10001; },
         "job.replicas.ps.count: must be from 0 to 10000, got 10001"},
        {"NegativeCpus",
         [](StudySpec& s) { Worker(s).resources.cpus = -1; },
         "job.replicas.worker.cpus: must be 0 or more, got -1"},
        {"NanCpus",
         [](StudySpec& s) { Worker(s).resources.cpus = kNan; },
         "job.replicas.worker.cpus: must be 0 or more, got nan"},
        {"InfiniteCpus",
         [](StudySpec& s) { Worker(s).resources.cpus = INFINITY; },
         "job.replicas.worker.cpus: must be 0 or more, got inf"},
        {"NegativeMemory",
         [](StudySpec& s) { Worker(s).resources.memory_bytes = -1; },
         "job.replicas.worker.memory: must not be negative, got -1"},
        {"NegativeGpus",
         [](StudySpec& s) { Worker(s).resources.gpus = -2; },
         "job.replicas.worker.gpus: must not be negative, got -2"},
        {"NegativeGpuMemory",
         [](StudySpec& s) { Worker(s).resources.gpu_memory_bytes = -1; },
         "job.replicas.worker.gpu_memory: must not be negative, got -1"},
        {"GpuMemoryOfNoGpu",
         [](StudySpec& s) { Worker(s).resources = {.gpu_memory_bytes = 1}; },
         "job.replicas.worker.gpu_memory: is of each of the gpus, and the replica asks for none"},
        {"NegativePriority",
         [](StudySpec& s) { s.job->priority = -1; },
         "job.priority: must be from 0 to 1000, got -1"},
        {"PriorityTooHigh",
         [](StudySpec& s) { s.job->priority = 1001; },
         "job.priority: must be from 0 to 1000, got 1001"},
        {"EmptyVariable",
         [](StudySpec& s) { s.job->env[""] = "x"; },
         "job.env: a variable's name must match ^[A-Za-z_][A-Za-z0-9_]*$, got ''"},
        {"VariableStartsWithDigit",
         [](StudySpec& s) { s.job->env["1A"] = "x"; },
         "job.env: a variable's name must match ^[A-Za-z_][A-Za-z0-9_]*$, got '1A'"},
        {"VariableWithEquals",
         [](StudySpec& s) { Worker(s).env["A=B"] = "x"; },
         "job.replicas.worker.env: a variable's name must match ^[A-Za-z_][A-Za-z0-9_]*$, got "
         "'A=B'"},
        {"ZeroByteInVariable",
         [](StudySpec& s) { s.job->env["A"] = std::string(2, '\0'); },
         "job.env.A: must not hold a zero byte"},
        {"NoTimeLimit",
         [](StudySpec& s) { s.job->time_limit = absl::ZeroDuration(); },
         "job.limits.time: must be above 0s, got 0"},
        {"NoTimeToProgress",
         [](StudySpec& s) { s.job->progress_limit = -absl::Seconds(1); },
         "job.limits.progress: must be above 0s, got -1s"},
        {"FewerRestartsThanNone",
         [](StudySpec& s) { s.job->restarts.replica = -1; },
         "job.restarts.replica: must be from 0 to 100, got -1"},
        {"EndlessAttempts",
         [](StudySpec& s) { s.job->restarts.job = 101; },
         "job.restarts.job: must be from 0 to 100, got 101"},
        {"TooLittleOutput",
         [](StudySpec& s) { s.job->output_bytes = (1 << 20) - 1; },
         "job.limits.output: must be at least 1MiB, got 1048575 bytes"},
        {"NegativeGrace",
         [](StudySpec& s) { s.job->grace = -absl::Seconds(3); },
         "job.limits.grace: must be from 0s up, got -3s"},
        {"EndlessGrace",
         [](StudySpec& s) { s.job->grace = absl::InfiniteDuration(); },
         "job.limits.grace: must be from 0s up, got inf"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(StudySpec, OfAnotherServicesClientNeedsNoObjective) {
  StudySpec spec;
  spec.name = "s";
  EXPECT_THAT(Validate(spec), StatusIs(absl::StatusCode::kInvalidArgument));
  spec.foreign.emplace();
  EXPECT_THAT(Validate(spec), IsOk());
}

}  // namespace
}  // namespace vernier
