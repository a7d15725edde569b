#include "src/jobs/layout.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/jobs/environment.h"
#include "src/jobs/replica_command.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::jobs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using ::testing::Pair;
using testing::StatusIs;

const AttemptId kAttempt{{StudyId(9), TrialNumber(3)}, AttemptNumber(2)};

Space AnySpace() {
  return Space::Create(
             {{.name = "lr", .domain = FloatDomain{.lower = 1e-5, .upper = 0.1}},
              {.name = "width", .domain = IntDomain{.lower = 1, .upper = 256}},
              {.name = "batch", .domain = DiscreteDomain{{0.5, 16, 32}}},
              {.name = "kind", .domain = CategoricalDomain{{std::string("a b"), std::string("c")}}},
              {.name = "deep", .domain = BoolDomain{}},
              {.name = "momentum",
               .domain = FloatDomain{},
               .when = {{.parent = "kind", .values = {std::string("c")}}}}})
      .value();
}

StudySpec AnyStudy() {
  StudySpec spec{.name = "digits", .objectives = {{.metric = "accuracy"}}, .space = AnySpace()};
  spec.job = TrainingJob{.command = {"python3", "train.py"}};
  return spec;
}

Trial AnyTrial() {
  return {.number = TrialNumber(3),
          .point = {{"lr", 1e-5},
                    {"width", std::int64_t{64}},
                    {"batch", 16.0},
                    {"kind", std::string("a b")},
                    {"deep", true}}};
}

PlacedGang PlaceOf(const StudySpec& spec) {
  PlacedGang placed{.directory = "/runs/digits/trial-3/attempt-2"};
  std::int32_t port = 7000;
  for (const ReplicaRequest& replica : MakeGangRequest(kAttempt, spec).replicas) {
    placed.placement.push_back(
        {.role = replica.role, .index = replica.index, .host = "127.0.0.1", .port = port++});
  }
  return placed;
}

absl::StatusOr<GangProgram> Program(const StudySpec& spec, const Trial& trial = AnyTrial()) {
  return MakeGangProgram(kAttempt, spec, trial, PlaceOf(spec), "/home/u");
}

StudySpec FiveRoles() {
  StudySpec spec = AnyStudy();
  spec.job->args = {"--steps", "9"};
  spec.job->job_directory = "runs/out";
  spec.job->replicas[Role::kWorker] = {.count = 2, .resources = {.gpus = 1, .gpu_type = "T4"}};
  spec.job->replicas[Role::kParameterServer] = {.count = 1};
  spec.job->replicas[Role::kEvaluator] = {.count = 1};
  return spec;
}

TEST(GangRequest, ListsThePrimaryFirstAndEveryRoleByIndex) {
  std::vector<std::string> names;
  for (const ReplicaRequest& replica : MakeGangRequest(kAttempt, FiveRoles()).replicas) {
    names.push_back(replica.role + " " + std::to_string(replica.index));
  }
  EXPECT_THAT(names, ElementsAre("chief 0", "worker 0", "worker 1", "ps 0", "evaluator 0"));
}

struct TfCase {
  std::string name;
  std::size_t replica;
  std::string task;
};
class TfConfigTest : public ::testing::TestWithParam<TfCase> {};

TEST_P(TfConfigTest, IsWhatTheServiceGives) {
  const StudySpec spec = FiveRoles();
  const std::string golden =
      R"({"cluster":{"chief":["127.0.0.1:7000"],"ps":["127.0.0.1:7003"],)"
      R"("worker":["127.0.0.1:7001","127.0.0.1:7002"]},"environment":"cloud",)"
      R"("job":{"args":["--steps","9"],"command":["python3","train.py"],"evaluator_count":"1",)"
      R"("job_dir":"runs/out","parameter_server_count":"1","scale_tier":"CUSTOM",)"
      R"("worker_config":{"accelerator_config":{"count":"1","type":"T4"}},"worker_count":"2"},)"
      R"("task":)" +
      GetParam().task + "}";
  EXPECT_EQ(TfConfig(spec, TrialNumber(3), PlaceOf(spec).placement, GetParam().replica), golden);
}

INSTANTIATE_TEST_SUITE_P(
    Roles,
    TfConfigTest,
    ::testing::Values(
        TfCase{"Chief", 0, R"({"cloud":"vernier","index":0,"trial":"3","type":"chief"})"},
        TfCase{"FirstWorker", 1, R"({"cloud":"vernier","index":0,"trial":"3","type":"worker"})"},
        TfCase{"SecondWorker", 2, R"({"cloud":"vernier","index":1,"trial":"3","type":"worker"})"},
        TfCase{"ParameterServer", 3, R"({"cloud":"vernier","index":0,"trial":"3","type":"ps"})"},
        TfCase{"Evaluator", 4, R"({"cloud":"vernier","index":0,"trial":"3","type":"evaluator"})"}),
    [](const auto& test) { return test.param.name; });

TEST(TfConfig, OfASingleReplicaHoldsOnlyItself) {
  StudySpec spec = AnyStudy();
  spec.job->primary_name = "master";
  EXPECT_EQ(TfConfig(spec, TrialNumber(1), PlaceOf(spec).placement, 0),
            R"({"cluster":{"master":["127.0.0.1:7000"]},"environment":"cloud",)"
            R"("job":{"args":[],"command":["python3","train.py"],"scale_tier":"CUSTOM"},)"
            R"("task":{"cloud":"vernier","index":0,"trial":"1","type":"master"}})");
}

TEST(Environment, GivesPyTorchRanksToPrimaryAndWorkersOnly) {
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(FiveRoles()));
  const std::vector<std::string> ranks = {"0", "1", "2", "none", "none"};
  for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
    const auto& env = gang.replicas[i].env;
    EXPECT_EQ(env.contains("RANK") ? env.at("RANK") : "none", ranks[i]);
    EXPECT_EQ(env.at("WORLD_SIZE"), "3");
    EXPECT_EQ(env.at("MASTER_ADDR"), "127.0.0.1");
    EXPECT_EQ(env.at("MASTER_PORT"), "7000");
    EXPECT_EQ(env.at("GLOO_SOCKET_IFNAME"), "lo");
  }
}

TEST(Gang, HasTheLimitsOfItsJob) {
  StudySpec spec = FiveRoles();
  spec.job->time_limit = absl::Minutes(3);
  spec.job->grace = absl::Seconds(4);
  spec.job->output_bytes = 5'000'000;
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_EQ(gang.time_limit, absl::Minutes(3));
  EXPECT_EQ(gang.grace, absl::Seconds(4));
  EXPECT_EQ(gang.output_bytes, 5'000'000);
}

TEST(Gang, AsksForRoomWithItsJobsPriorityAndAsLongAsItMayRun) {
  StudySpec spec = FiveRoles();
  EXPECT_EQ(MakeGangRequest({}, spec).time_limit, std::nullopt);
  spec.job->priority = 5;
  spec.job->time_limit = absl::Minutes(3);
  spec.job->grace = absl::Seconds(4);
  EXPECT_EQ(MakeGangRequest({}, spec).priority, 5);
  EXPECT_EQ(MakeGangRequest({}, spec).time_limit, absl::Minutes(3) + absl::Seconds(4));
  spec.parallel = 8;
  EXPECT_EQ(MakeGangRequest({}, spec).parallel, 8);
  spec.budget.trials = 3;
  EXPECT_EQ(MakeGangRequest({}, spec).parallel, 3);
}

TEST(Environment, TellsTrialStudyAndMetricFile) {
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(FiveRoles()));
  const auto& env = gang.replicas[2].env;
  EXPECT_EQ(env.at("CLOUD_ML_TRIAL_ID"), "3");
  EXPECT_EQ(env.at("CLOUD_ML_JOB_ID"), "digits");
  EXPECT_EQ(env.at("CLOUD_ML_HP_METRIC_TAG"), "accuracy");
  EXPECT_EQ(env.at("CLOUD_ML_HP_METRIC_FILE"),
            "/runs/digits/trial-3/attempt-2/worker-1/hypertune.metrics");
  EXPECT_EQ(gang.replicas[2].log_file, "/runs/digits/trial-3/attempt-2/worker-1/output.log");
  EXPECT_EQ(env.at("VERNIER_STUDY"), "digits");
  EXPECT_EQ(env.at("VERNIER_TRIAL"), "3");
  EXPECT_EQ(env.at("VERNIER_ATTEMPT"), "2");
  EXPECT_EQ(env.at("VERNIER_PARAMETERS"),
            R"({"batch":16.0,"deep":true,"kind":"a b","lr":1e-05,"width":64})");
  EXPECT_THAT(env.at("CLOUD_ML_JOB"), HasSubstr(R"("worker_count":"2")"));
}

TEST(Environment, TellsTheJobOfAProjectByItsOwnId) {
  StudySpec spec = FiveRoles();
  spec.name = "my-project--census";
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  const auto& env = gang.replicas[0].env;
  EXPECT_EQ(env.at("CLOUD_ML_JOB_ID"), "census");
  EXPECT_EQ(env.at("CLOUD_ML_PROJECT_ID"), "my-project");
  EXPECT_EQ(env.at("VERNIER_STUDY"), "my-project--census");
}

TEST(Environment, ShowsEachReplicaItsOwnDevicesAndOthersNone) {
  const StudySpec spec = FiveRoles();
  PlacedGang placed = PlaceOf(spec);
  placed.placement[1].gpus = {"2", "5"};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang,
                       MakeGangProgram(kAttempt, spec, AnyTrial(), placed, "/home/u"));
  EXPECT_EQ(gang.replicas[0].env.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(gang.replicas[1].env.at("CUDA_VISIBLE_DEVICES"), "2,5");
  EXPECT_EQ(gang.replicas[1].env.at("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
  EXPECT_FALSE(gang.replicas[0].env.contains("CUDA_DEVICE_ORDER"));
}

TEST(Environment, OfTheRoleOverridesTheJobsAndNeitherOverridesTheService) {
  StudySpec spec = FiveRoles();
  spec.job->env = {{"A", "job"}, {"B", "job"}, {"RANK", "7"}, {"PYTHONUNBUFFERED", "0"}};
  spec.job->replicas[Role::kWorker].env = {{"B", "worker"}};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  const auto& env = gang.replicas[1].env;
  EXPECT_EQ(env.at("A"), "job");
  EXPECT_EQ(env.at("B"), "worker");
  EXPECT_EQ(env.at("RANK"), "1");
  EXPECT_EQ(env.at("PYTHONUNBUFFERED"), "0");
  EXPECT_EQ(gang.replicas[0].env.at("B"), "job");
}

TEST(CommandLine, IsCommandArgumentsJobDirThenParametersInTheUsersOrder) {
  StudySpec spec = FiveRoles();
  spec.job->replicas[Role::kWorker].args = {"--quiet"};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_THAT(gang.replicas[0].argv,
              ElementsAre("python3",
                          "train.py",
                          "--steps",
                          "9",
                          "--job-dir",
                          "runs/out/3",
                          "--lr=1e-05",
                          "--width=64",
                          "--batch=16",
                          "--kind=a b",
                          "--deep=true"));
  EXPECT_EQ(gang.replicas[1].argv[4], "--quiet");
}

TEST(CommandLine, OfARoleReplacesTheJobs) {
  StudySpec spec = FiveRoles();
  spec.job->replicas[Role::kEvaluator].command = {"python3", "evaluate.py"};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_EQ(gang.replicas[0].argv[1], "train.py");
  EXPECT_EQ(gang.replicas[4].argv[1], "evaluate.py");
}

TEST(CommandLine, PutsAParameterWhereItsPlaceholderIs) {
  StudySpec spec = AnyStudy();
  spec.job->command = {"train", "--rate", "{lr}", "{width}x{batch}"};
  spec.job->env = {{"KIND", "<{kind}>"}};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_THAT(gang.replicas[0].argv,
              ElementsAre("train", "--rate", "1e-05", "64x16", "--deep=true"));
  EXPECT_EQ(gang.replicas[0].env.at("KIND"), "<a b>");
}

TEST(CommandLine, LeavesOutWhatNamesAnInactiveParameter) {
  StudySpec spec = AnyStudy();
  spec.job->command = {"train", "--momentum={momentum}"};
  spec.job->env = {{"MOMENTUM", "{momentum}"}};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_THAT(gang.replicas[0].argv, Not(Contains(HasSubstr("momentum"))));
  EXPECT_FALSE(gang.replicas[0].env.contains("MOMENTUM"));
}

std::vector<std::string> ArgumentsIn(const StudySpec& spec, const Trial& trial = AnyTrial()) {
  const auto gang = Program(spec, trial);
  EXPECT_THAT(gang.status(), IsOk());
  if (!gang.ok()) return {};
  const std::vector<std::string>& argv = gang->replicas[0].argv;
  return {argv.begin() + 2, argv.end()};  // After python3 train.py.
}

TEST(CommandLine, GivesAllParametersAsTheJobSays) {
  StudySpec spec = AnyStudy();
  using Style = ArgumentStyle;
  spec.job->argument_style = Style::kSeparate;
  EXPECT_THAT(
      ArgumentsIn(spec),
      ElementsAre(
          "--lr", "1e-05", "--width", "64", "--batch", "16", "--kind", "a b", "--deep", "true"));
  spec.job->argument_style = Style::kPositional;
  EXPECT_THAT(ArgumentsIn(spec), ElementsAre("1e-05", "64", "16", "a b", "true"));
  spec.job->argument_style = Style::kAssignment;
  EXPECT_THAT(ArgumentsIn(spec),
              ElementsAre("lr=1e-05", "width=64", "batch=16", "kind=a b", "deep=true"));
  spec.job->argument_style = Style::kVariable;
  EXPECT_THAT(ArgumentsIn(spec), ElementsAre());
  const auto env = Program(spec)->replicas[0].env;
  EXPECT_EQ(env.at("LR"), "1e-05");
  EXPECT_EQ(env.at("KIND"), "a b");
  EXPECT_FALSE(env.contains("MOMENTUM"));
}

TEST(CommandLine, GivesAParameterAsItsOwnArgumentSays) {
  StudySpec spec = AnyStudy();
  using Style = ArgumentStyle;
  spec.job->arguments = {{"lr", {Style::kOption, "--learning_rate"}},
                         {"width", {Style::kSeparate, "-w"}},
                         {"batch", {Style::kVariable, "BATCH_SIZE"}},
                         {"kind", {Style::kPositional, ""}}};
  EXPECT_THAT(ArgumentsIn(spec),
              ElementsAre("--learning_rate=1e-05", "-w", "64", "a b", "--deep=true"));
  EXPECT_EQ(Program(spec)->replicas[0].env.at("BATCH_SIZE"), "16");
}

TEST(CommandLine, GivesAFlagOrNothing) {
  StudySpec spec = AnyStudy();
  Trial trial = AnyTrial();
  const auto given = [&](bool deep, const ParameterArgument& argument) {
    spec.job->arguments = {{"deep", argument}};
    trial.point["deep"] = deep;
    return ArgumentsIn(spec, trial).size() == 4 ? "" : ArgumentsIn(spec, trial).back();
  };
  EXPECT_EQ(given(true, {ArgumentStyle::kFlag, ""}), "--deep");
  EXPECT_EQ(given(false, {ArgumentStyle::kFlag, ""}), "");
  EXPECT_EQ(given(true, {ArgumentStyle::kAbsentFlag, "--no-depth"}), "");
  EXPECT_EQ(given(false, {ArgumentStyle::kAbsentFlag, "--no-depth"}), "--no-depth");
  EXPECT_EQ(given(false, {ArgumentStyle::kAbsentFlag, ""}), "--no-deep");
}

TEST(CommandLine, DropsWhatComesOutEmpty) {
  StudySpec spec = AnyStudy();
  spec.job->command = {"python3", "train.py", "{deep}", "", "{kind}", "{lr}{width}{batch}"};
  spec.job->arguments = {{"deep", {ArgumentStyle::kFlag, ""}}};
  Trial trial = AnyTrial();
  EXPECT_THAT(ArgumentsIn(spec, trial), ElementsAre("--deep", "", "a b", "1e-056416"));
  trial.point["deep"] = false;
  trial.point["kind"] = std::string();
  // What the user wrote as empty stays.
  EXPECT_THAT(ArgumentsIn(spec, trial), ElementsAre("", "1e-056416"));
  spec.job->command = {"python3", "train.py", "{lr}{width}{batch}{deep}"};
  spec.job->arguments["kind"] = {ArgumentStyle::kPositional, ""};
  EXPECT_THAT(ArgumentsIn(spec, trial), ElementsAre("1e-056416"));
}

TEST(ParametersFile, HoldsThePointOfItsReplica) {
  StudySpec spec = AnyStudy();
  spec.job->command = {"python3", "train.py", "--config={parameters.json}"};
  spec.job->replicas[Role::kWorker] = {.count = 2, .command = {"python3", "work.py"}};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  const std::string file = "/runs/digits/trial-3/attempt-2/chief-0/parameters.json";
  EXPECT_THAT(gang.replicas[0].argv, ElementsAre("python3", "train.py", "--config=" + file));
  EXPECT_THAT(gang.replicas[0].files,
              ElementsAre(Pair(file,
                               "{\"batch\":16.0,\"deep\":true,\"kind\":\"a b\",\"lr\":1e-05,"
                               "\"width\":64}\n")));
  // Who does not name it is given the parameters in the usual way.
  EXPECT_TRUE(gang.replicas[2].files.empty());
  EXPECT_THAT(gang.replicas[2].argv, Contains("--lr=1e-05"));
}

TEST(ParametersFile, HasWholeNumbersWhereAllValuesAreWhole) {
  const Space space = *Space::Create({{.name = "batch", .domain = DiscreteDomain{{16, 32}}},
                                      {.name = "rate", .domain = DiscreteDomain{{0.5, 1}}}});
  EXPECT_EQ(ParametersJson({{"batch", 32.0}, {"rate", 1.0}}, space), R"({"batch":32,"rate":1.0})");
}

TEST(ParametersFile, LeavesWhatIsAskedForInAnotherWay) {
  StudySpec spec = AnyStudy();
  spec.job->command = {"python3", "train.py", "{parameters.json}", "{kind}"};
  spec.job->arguments = {{"lr", {ArgumentStyle::kOption, ""}}};
  EXPECT_THAT(ArgumentsIn(spec),
              ElementsAre(HasSubstr("/chief-0/parameters.json"), "a b", "--lr=1e-05"));
  spec.job->argument_style = ArgumentStyle::kAssignment;
  EXPECT_THAT(ArgumentsIn(spec), Contains("width=64"));
}

TEST(ParametersFile, MayBeNamedInTheEnvironment) {
  StudySpec spec = AnyStudy();
  spec.job->argument_style = ArgumentStyle::kFile;
  spec.job->env = {{"CONFIG", "{parameters.json}"}};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_EQ(gang.replicas[0].files.begin()->first, gang.replicas[0].env.at("CONFIG"));
  EXPECT_THAT(ArgumentsIn(spec), ElementsAre());
}

TEST(IsServiceVariable, KnowsAllThatReplicasAreGiven) {
  for (const StudySpec& spec : {AnyStudy(), FiveRoles()}) {
    const Placement placement = PlaceOf(spec).placement;
    for (std::size_t i = 0; i < placement.size(); ++i) {
      for (const auto& [name, value] :
           ServiceVariables(kAttempt, spec, AnyTrial().point, placement, i, "/m")) {
        EXPECT_TRUE(IsServiceVariable(name)) << name;
      }
    }
  }
  EXPECT_FALSE(IsServiceVariable("LR"));
}

struct TextCase {
  std::string name;
  std::string text;
  std::string result;
};
class PlaceholderTextTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(PlaceholderTextTest, BecomesText) {
  StudySpec spec = AnyStudy();
  spec.job->command = {"train", GetParam().text};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_EQ(gang.replicas[0].argv[1], GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    PlaceholderTextTest,
    ::testing::Values(TextCase{"Escaped", "{{lr}}", "{lr}"},
                      TextCase{"UnknownName", "model-{epoch}.h5", "model-{epoch}.h5"},
                      TextCase{"JobDirectoryOfNone", "{job_dir}", "{job_dir}"},
                      TextCase{"Trial", "out/{trial}", "out/3"},
                      TextCase{"ShellVariable", "echo ${HOME} $1", "echo ${HOME} $1"},
                      TextCase{"Json", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
                      TextCase{"InsideJson", R"({"a":{lr}})", R"({"a":1e-05})"},
                      TextCase{"ShellBlock", "f() { echo; }", "f() { echo; }"},
                      TextCase{"LoneBraces", "}{ {} {", "}{ {} {"},
                      TextCase{"Twice", "{width}{width}", "6464"},
                      TextCase{"HalfEscaped", "{{width}", "{64"}),
    [](const auto& test) { return test.param.name; });

TEST(Placeholders, NameTheTrialsDirectoryInsteadOfItsOption) {
  StudySpec spec = AnyStudy();
  spec.job->job_directory = "/out";
  spec.job->command = {"python3", "train.py", "--output_dir={job_dir}"};
  EXPECT_THAT(ArgumentsIn(spec), Contains("--output_dir=/out/3"));
  EXPECT_THAT(ArgumentsIn(spec), Not(Contains("--job-dir")));
}

TEST(Placeholders, AreNotInWhatCameAsATrainingInput) {
  StudySpec spec = AnyStudy();
  spec.job->input = TrainingInput{};
  spec.job->command = {"train", "{lr}", "{{lr}}", "model-{epoch}.h5"};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  const std::vector<std::string>& argv = gang.replicas[0].argv;
  ASSERT_GE(argv.size(), 4u);
  EXPECT_EQ(argv[1], "{lr}");
  EXPECT_EQ(argv[2], "{{lr}}");
  EXPECT_EQ(argv[3], "model-{epoch}.h5");
  EXPECT_THAT(argv, Contains("--lr=1e-05"));
}

TEST(Placeholders, AreNotInAJobWithoutParameters) {
  StudySpec spec;
  spec.name = "digits";
  spec.job = TrainingJob{.command = {"train", "{{x}}", "{trial}"}};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_THAT(gang.replicas[0].argv, ElementsAre("train", "{{x}}", "{trial}"));
}

struct RefusedCase {
  std::string name;
  void (*change)(TrainingJob& job);
  std::string error;
};
class RefusedJobTest : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedJobTest, NamesTheFieldBeforeThereIsATrial) {
  StudySpec spec = FiveRoles();
  GetParam().change(*spec.job);
  EXPECT_THAT(ValidateJob(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, Eq(GetParam().error)));
  EXPECT_EQ(Program(spec).status(), ValidateJob(spec));
}

INSTANTIATE_TEST_SUITE_P(
    Jobs,
    RefusedJobTest,
    ::testing::Values(
        RefusedCase{"FileThatNobodyReads",
                    [](TrainingJob& job) { job.argument_style = ArgumentStyle::kFile; },
                    "job.arguments: the program would not be given parameter 'lr': put "
                    "'{parameters.json}', the file's path, into the command"},
        RefusedCase{"OwnFileThatNobodyReads",
                    [](TrainingJob& job) {
                      job.arguments["lr"] = {ArgumentStyle::kFile, ""};
                    },
                    "parameters.lr.arg: the program would not be given parameter 'lr': put "
                    "'{parameters.json}', the file's path, into the command"},
        RefusedCase{"ArgumentOfAPlaceholder",
                    [](TrainingJob& job) {
                      job.args = {"{lr}"};
                      job.arguments["lr"] = {ArgumentStyle::kOption, "--rate"};
                    },
                    "parameters.lr.arg: has no effect: '{lr}' of the command is in its place"},
        RefusedCase{"VariableOfVernier",
                    [](TrainingJob& job) {
                      job.arguments["lr"] = {ArgumentStyle::kVariable, "RANK"};
                    },
                    "parameters.lr.arg: variable RANK is set by Vernier itself; another one is "
                    "given as `arg: env:NAME`"},
        RefusedCase{"VariableSetTwice",
                    [](TrainingJob& job) {
                      job.argument_style = ArgumentStyle::kVariable;
                      job.replicas[Role::kWorker].env["WIDTH"] = "3";
                    },
                    "job.arguments: variable WIDTH is set by job.replicas.worker.env.WIDTH too"},
        RefusedCase{"NoCommand",
                    [](TrainingJob& job) { job.command.clear(); },
                    "job.command: must not be empty: replica 'chief' has none of its own"}),
    [](const auto& test) { return test.param.name; });

TEST(WorkingDirectory, IsBelowTheStudysUnlessAbsolute) {
  StudySpec spec = FiveRoles();
  spec.job->working_directory = "project";
  spec.job->replicas[Role::kWorker].directory = "part";
  spec.job->replicas[Role::kEvaluator].directory = "/elsewhere";
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_EQ(gang.replicas[0].directory, "/home/u/project");
  EXPECT_EQ(gang.replicas[1].directory, "/home/u/project/part");
  EXPECT_EQ(gang.replicas[4].directory, "/elsewhere");
}

StudySpec InImages() {
  StudySpec spec = FiveRoles();
  spec.job->command.clear();
  spec.job->image = "org/trainer:1";
  spec.job->job_directory = "file:///out";
  spec.job->replicas[Role::kParameterServer].image = "org/ps:1";
  return spec;
}

TEST(Image, GivesItsEntryPointTheArgumentsAndParameters) {
  const auto gang = Program(InImages());
  ASSERT_THAT(gang.status(), IsOk());
  const ReplicaProgram& chief = gang->replicas[0];
  EXPECT_THAT(chief.argv,
              ElementsAre("--steps",
                          "9",
                          "--job-dir",
                          "file:///out/3",
                          "--lr=1e-05",
                          "--width=64",
                          "--batch=16",
                          "--kind=a b",
                          "--deep=true"));
  EXPECT_EQ(chief.container,
            (ReplicaContainer{.image = "org/trainer:1",
                              .replaces_entry_point = false,
                              .directory = "",
                              .mounts = {"/out"}}));
  EXPECT_EQ(gang->replicas[3].container->image, "org/ps:1");
}

TEST(Image, ACommandTakesThePlaceOfItsEntryPoint) {
  StudySpec spec = InImages();
  spec.job->replicas[Role::kWorker].command = {"work"};
  const auto gang = Program(spec);
  ASSERT_THAT(gang.status(), IsOk());
  EXPECT_FALSE(gang->replicas[0].container->replaces_entry_point);
  EXPECT_TRUE(gang->replicas[1].container->replaces_entry_point);
  EXPECT_EQ(gang->replicas[1].argv.front(), "work");
}

TEST(Image, SeesAWorkingDirectoryThatIsGivenAndAJobDirectoryThatIsOfThisHost) {
  StudySpec spec = InImages();
  spec.job->working_directory = "/src";
  spec.job->job_directory = "out";
  spec.job->replicas[Role::kWorker].directory = "w";
  const auto gang = Program(spec);
  ASSERT_THAT(gang.status(), IsOk());
  EXPECT_EQ(gang->replicas[0].container->directory, "/src");
  EXPECT_THAT(gang->replicas[0].container->mounts, ElementsAre("/src", "/src/out"));
  EXPECT_THAT(gang->replicas[1].container->mounts, ElementsAre("/src/w", "/src/w/out"));

  spec.job->job_directory = "gs://bucket/out";
  EXPECT_THAT(Program(spec)->replicas[0].container->mounts, ElementsAre("/src"));
}

TEST(Image, IsToldItsClusterWithAMasterWhateverThePrimaryIsCalled) {
  const auto gang = Program(InImages());
  ASSERT_THAT(gang.status(), IsOk());
  const auto chief = nlohmann::json::parse(gang->replicas[0].env.at("CLUSTER_SPEC"));
  EXPECT_EQ(chief.at("cluster").dump(),
            R"({"master":["127.0.0.1:7000"],"ps":["127.0.0.1:7003"],)"
            R"("worker":["127.0.0.1:7001","127.0.0.1:7002"]})");
  EXPECT_EQ(chief.at("task").dump(),
            R"({"cloud":"vernier","index":0,"trial":"3","type":"master"})");
  EXPECT_EQ(chief.at("job").at("master_config").at("image_uri"), "org/trainer:1");
  const auto worker = nlohmann::json::parse(gang->replicas[2].env.at("CLUSTER_SPEC"));
  EXPECT_EQ(worker.at("task").dump(),
            R"({"cloud":"vernier","index":1,"trial":"3","type":"worker"})");
  EXPECT_FALSE(Program(FiveRoles())->replicas[0].env.contains("CLUSTER_SPEC"));
}

TEST(ValidateJob, AcceptsAStudyWithoutAJob) {
  StudySpec spec = AnyStudy();
  spec.job.reset();
  EXPECT_THAT(ValidateJob(spec), IsOk());
}

// --- jobs with nothing to tune, and in the words of AI Platform Training ---

StudySpec AJobAlone() {
  StudySpec spec{.name = "once"};
  spec.job = TrainingJob{.command = {"train"}, .job_directory = "out"};
  spec.budget.trials = 1;
  return spec;
}

TEST(MakeGangProgram, DoesNotSayThatAJobAloneIsTuned) {
  const auto gang = Program(AJobAlone(), {.number = TrialNumber(1), .point = {}});
  ASSERT_THAT(gang.status(), IsOk());
  const ReplicaProgram& chief = gang->replicas.front();
  EXPECT_THAT(chief.argv, ElementsAre("train", "--job-dir", "out"));
  for (const char* name :
       {"CLOUD_ML_TRIAL_ID", "CLOUD_ML_HP_METRIC_TAG", "CLOUD_ML_HP_METRIC_FILE"}) {
    EXPECT_THAT(chief.env, Not(Contains(::testing::Key(name))));
  }
  EXPECT_THAT(chief.env.at("TF_CONFIG"), Not(HasSubstr("\"trial\"")));
}

TEST(MakeGangProgram, RunsAPythonModule) {
  StudySpec spec = AJobAlone();
  spec.job->command.clear();
  spec.job->python = PythonProgram{.module = "trainer.task"};
  spec.job->args = {"--steps", "9"};
  const auto gang = Program(spec, {.number = TrialNumber(1), .point = {}});
  ASSERT_THAT(gang.status(), IsOk());
  EXPECT_THAT(gang->replicas.front().argv,
              ElementsAre("python3", "-m", "trainer.task", "--steps", "9", "--job-dir", "out"));
}

TEST(JobJson, IsTheTrainingInputAsGiven) {
  TrainingJob job;
  job.input =
      TrainingInput{.scale_tier = "CUSTOM", .master_type = "large_model", .worker_count = 2};
  EXPECT_EQ(JobJson(job),
            R"({"master_type":"large_model","scale_tier":"CUSTOM","worker_count":"2"})");
}

TEST(OwnFolder, IsWhereCodeIsUnpackedAndRun) {
  StudySpec spec = AnyStudy();
  spec.job->code = {.archive = "file:///packages/ab/code.tar.gz", .sha256 = {}, .folder = {}};
  spec.job->working_directory = "src";
  spec.job->job_directory = "/data/out";
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  const ReplicaProgram& chief = gang.replicas.front();
  const std::string own = "/runs/digits/trial-3/attempt-2/chief-0/work";
  EXPECT_EQ(chief.directory, own + "/src");
  EXPECT_THAT(chief.folders, ElementsAre(own, "/data/out/3"));
  ASSERT_TRUE(chief.code.has_value());
  EXPECT_EQ(chief.code->archive, "/packages/ab/code.tar.gz");
  EXPECT_EQ(chief.code->folder, own);
}

TEST(OwnFolder, IsThatOfAJobGivenAsATrainingInput) {
  StudySpec spec = AnyStudy();
  spec.job->input.emplace();
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  EXPECT_EQ(gang.replicas.front().directory, "/runs/digits/trial-3/attempt-2/chief-0/work");
  EXPECT_FALSE(gang.replicas.front().code.has_value());
  spec.job->working_directory = "/live";
  ASSERT_OK_AND_ASSIGN(const GangProgram live, Program(spec));
  EXPECT_EQ(live.replicas.front().directory, "/live");
  EXPECT_THAT(live.replicas.front().folders, ElementsAre());
}

TEST(OwnFolder, IsWhereAContainerStarts) {
  StudySpec spec = AnyStudy();
  spec.job->image = "trainer";
  spec.job->code = {.archive = "/code.tar.gz", .sha256 = {}, .folder = {}};
  ASSERT_OK_AND_ASSIGN(const GangProgram gang, Program(spec));
  const ReplicaProgram& chief = gang.replicas.front();
  EXPECT_EQ(chief.container->directory, "/runs/digits/trial-3/attempt-2/chief-0/work");
  EXPECT_THAT(chief.container->mounts, ElementsAre());  // The replica's own folder is seen anyway.
}

TEST(GangRequest, SaysWhatHasToBeThereBeforeItIsPlaced) {
  StudySpec spec = AnyStudy();
  spec.job->command.clear();
  spec.job->image = "b";
  spec.job->working_directory = "live";
  spec.job->replicas[Role::kWorker] = {.count = 2, .image = "a"};
  spec.job->replicas[Role::kEvaluator] = {.count = 0, .image = "unused"};
  const GangNeeds needs = MakeGangRequest(kAttempt, spec).needs;
  EXPECT_THAT(needs.images, ElementsAre("a", "b"));
  EXPECT_EQ(needs.directory, "live");
  EXPECT_FALSE(needs.python.has_value());
}

}  // namespace
}  // namespace vernier::jobs
