#include "src/cli/study_warnings.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/temporary_folder.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

StudySpec SpecOver(const Domain& domain) {
  StudySpec spec;
  spec.name = "s";
  spec.objectives = {{"accuracy", Goal::kMaximize}};
  spec.space = *Space::Create({{.name = "x", .domain = domain, .when = {}, .default_value = {}}});
  spec.job = TrainingJob{};
  spec.job->command = {"sh", "-c", "true"};
  return spec;
}
const Domain kInfinite = FloatDomain{0, 1, Scale::kLinear, {}, {}};
const Domain kFinite = DiscreteDomain{{1, 2, 4}};

struct BoundCase {
  std::string name;
  Domain domain;
  std::function<void(StudySpec&)> change;
  bool warns;
};
class BoundTest : public ::testing::TestWithParam<BoundCase> {};

TEST_P(BoundTest, WarnsOfAStudyThatRunsForEver) {
  StudySpec spec = SpecOver(GetParam().domain);
  GetParam().change(spec);
  if (GetParam().warns) {
    EXPECT_THAT(WarningsOf(spec), ElementsAre(StartsWith("budget: the study runs for ever")));
  } else {
    EXPECT_THAT(WarningsOf(spec), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    BoundTest,
    ::testing::ValuesIn(std::vector<BoundCase>{
        {"NoBound", kInfinite, [](StudySpec&) {}, true},
        {"FiniteSpace", kFinite, [](StudySpec&) {}, false},
        {"Trials", kInfinite, [](StudySpec& spec) { spec.budget.trials = 9; }, false},
        {"Time", kInfinite, [](StudySpec& spec) { spec.budget.time = absl::Hours(1); }, false},
        {"Failures", kInfinite, [](StudySpec& spec) { spec.budget.failed_trials = 9; }, true},
        {"GpuHours",
         kInfinite,
         [](StudySpec& spec) {
           spec.budget.gpu_hours = 9;
           spec.job->replicas[Role::kPrimary].resources.gpus = 1;
         },
         false},
        {"GpuHoursWithoutGpus",
         kInfinite,
         [](StudySpec& spec) { spec.budget.gpu_hours = 9; },
         true},
        {"ItStopsWhenConverged",
         kInfinite,
         [](StudySpec& spec) { spec.convergence = {.tolerance = 0.1, .stop = true}; },
         false},
        {"ItOnlySaysThatItConverged",
         kInfinite,
         [](StudySpec& spec) { spec.convergence = {.tolerance = 0.1, .stop = false}; },
         true},
        {"OfClients", kInfinite, [](StudySpec& spec) { spec.job.reset(); }, false}}),
    [](const auto& test) { return test.param.name; });

TEST(Space, WarnsOfAParameterThatNoTrialHas) {
  StudySpec spec = SpecOver(kFinite);
  spec.space = *Space::Create({{.name = "x", .domain = kFinite, .when = {}, .default_value = {}},
                               {.name = "y",
                                .domain = kFinite,
                                .when = {{"x", {1.0}}, {"x", {2.0}}},
                                .default_value = {}}});
  EXPECT_THAT(
      WarningsOf(spec),
      ElementsAre("parameters.y.when: no trial has this parameter: no value of 'x' satisfies its "
                  "conditions and those of the parameters that it depends on"));
  spec.job.reset();
  EXPECT_THAT(WarningsOf(spec), SizeIs(1));
}

TEST(Metrics, WarnsOfAnEntryThatMayBeMeantForTheObjective) {
  StudySpec spec = SpecOver(kFinite);
  spec.metrics = {{"acc", {.kind = MetricSourceKind::kAfter, .text = "acc="}}};
  EXPECT_THAT(WarningsOf(spec),
              ElementsAre("metrics: the objective 'accuracy' has no entry, 'acc' has one; give "
                          "both the same name if 'acc' is the objective"));
  spec.metrics["accuracy"] = {.kind = MetricSourceKind::kAfter, .text = "accuracy="};
  EXPECT_THAT(WarningsOf(spec), IsEmpty());
}

TEST(Metrics, SaysNothingOfEntriesOfTheirOwn) {
  StudySpec spec = SpecOver(kFinite);
  spec.metrics = {{"loss", {.kind = MetricSourceKind::kAfter, .text = "loss="}}};
  EXPECT_THAT(WarningsOf(spec), IsEmpty());
  spec.objectives = {{"val_acc", Goal::kMaximize}};
  spec.metrics = {{"train_acc", {.kind = MetricSourceKind::kAfter, .text = "train_acc="}}};
  EXPECT_THAT(WarningsOf(spec), IsEmpty());
}

TEST(Stopping, WarnsOfARuleThatSeesOneOfSeveralObjectives) {
  StudySpec spec = SpecOver(kFinite);
  spec.stopping.name = "median";
  EXPECT_THAT(WarningsOf(spec), IsEmpty());
  spec.objectives.push_back({"latency", Goal::kMinimize});
  EXPECT_THAT(WarningsOf(spec),
              ElementsAre(StartsWith("stopping: 'median' judges trials by 'accuracy' alone, the "
                                     "first of 2 objectives")));
  spec.job.reset();  // Clients get the verdicts, too.
  EXPECT_THAT(WarningsOf(spec), SizeIs(1));
  spec.stopping.name = "none";
  EXPECT_THAT(WarningsOf(spec), IsEmpty());
}

TEST(Stopping, WarnsOfARuleThatNobodyAsks) {
  StudySpec spec = SpecOver(kFinite);
  spec.stopping.name = "median";
  spec.judged_when_asked = true;
  EXPECT_THAT(WarningsOf(spec), ElementsAre(StartsWith("stopping.when: 'asked' judges")));
  spec.job.reset();
  EXPECT_THAT(WarningsOf(spec), IsEmpty());
}

TEST(UsedFolder, WarnsOfFilesOfEarlierTrials) {
  const base::TemporaryFolder dir = base::TemporaryFolder::Create().value();
  StudySpec spec = SpecOver(kFinite);
  EXPECT_EQ(UsedFolderWarning(spec), "");
  spec.job->working_directory = dir.path();
  spec.job->job_directory = "runs";
  EXPECT_EQ(UsedFolderWarning(spec), "");
  // A trial that wrote nothing, and a folder of another kind.
  std::filesystem::create_directories(dir.path() + "/runs/1");
  std::filesystem::create_directories(dir.path() + "/runs/data/2");
  EXPECT_EQ(UsedFolderWarning(spec), "");
  std::filesystem::create_directories(dir.path() + "/runs/12/checkpoint");
  for (const std::string& folder :
       {std::string("runs"), dir.path() + "/runs", "file://" + dir.path() + "/runs"}) {
    spec.job->job_directory = folder;
    EXPECT_THAT(UsedFolderWarning(spec), StartsWith("job.dir: '"));
    EXPECT_THAT(UsedFolderWarning(spec), HasSubstr("as in '12'"));
  }
  spec.job->job_directory = "gs://bucket/runs";
  EXPECT_EQ(UsedFolderWarning(spec), "");
  spec.job.reset();
  EXPECT_EQ(UsedFolderWarning(spec), "");
}

TEST(Arguments, WarnsOfAnOptionWhoseValueMayBeMissing) {
  StudySpec spec = SpecOver(kFinite);
  spec.space = *Space::Create({{.name = "opt", .domain = CategoricalDomain{{"sgd", "adam"}}},
                               {.name = "momentum",
                                .domain = DiscreteDomain{{0.5, 0.9}},
                                .when = {{.parent = "opt", .values = {"sgd"}}}}});
  spec.job->command = {"sh", "train.sh", "--opt", "{opt}", "--momentum", "{momentum}"};
  EXPECT_THAT(WarningsOf(spec, /*runs_here=*/false),
              ElementsAre("job.command: where momentum is inactive, '--momentum' is passed without "
                          "a value; write '--momentum={momentum}' as one word"));
  spec.job->command = {"sh", "train.sh", "--opt", "{opt}", "--momentum={momentum}"};
  EXPECT_THAT(WarningsOf(spec, /*runs_here=*/false), IsEmpty());
}

TEST(Arguments, WarnsOfNamesThatStandForNothing) {
  StudySpec spec = SpecOver(kFinite);
  spec.job->command = {"sh", "train.sh", "{x}", "out/{trial}", "${HOME}", "model-{epoch}.h5"};
  spec.job->env = {{"OUT", "{job_dir}"}};
  EXPECT_THAT(WarningsOf(spec, /*runs_here=*/false),
              ElementsAre("job.command: '{epoch}' is passed as it is: no parameter has that name; "
                          "known: trial, job_dir, parameters.json, x",
                          "job.env.OUT: '{job_dir}' is passed as it is: the job has no `dir`"));
  spec.job->job_directory = "out";
  spec.job->command = {"sh", "train.sh", "{{epoch}}"};
  EXPECT_THAT(WarningsOf(spec, /*runs_here=*/false), IsEmpty());
}

}  // namespace
}  // namespace vernier::cli
