#include "src/cli/study_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Study WithConvergence(bool stop) {
  Study study;
  study.spec.objectives = {{.metric = "loss", .goal = Goal::kMinimize}};
  study.spec.budget.trials = 40;
  study.spec.convergence = Convergence{.tolerance = 0.01, .stop = stop};
  study.trials = 20;
  return study;
}

Study Converged(bool stop) {
  Study study = WithConvergence(stop);
  study.converged = TrialNumber(17);
  study.best = TrialNumber(12);
  return study;
}

TEST(DescribeBudget, CountsGpuHours) {
  Study study;
  study.spec.budget = {.trials = 40, .gpu_hours = 12};
  study.trials = 3;
  study.used.gpu_time = absl::Minutes(90);
  EXPECT_EQ(DescribeBudget(study), "3 of 40 trials, 1.50 of 12 GPU hours");
}

TEST(DescribeUsage, IsShort) {
  EXPECT_EQ(DescribeUsage({.cpu_time = absl::Seconds(75),
                           .gpu_time = absl::Hours(3),
                           .peak_memory_bytes = std::int64_t{512} << 20}),
            "1m15s of CPU, 3h00m of GPUs, at most 512 MiB a replica");
}

TEST(DescribeUtilization, TellsWhatIsKnown) {
  EXPECT_EQ(DescribeUtilization({}), "");
  EXPECT_EQ(DescribeUtilization({.cpus = 0.374, .memory = {}}), "37% of the CPUs asked for");
  EXPECT_EQ(DescribeUtilization({.cpus = 1.02, .memory = 0.125}),
            "102% of the CPUs, 12% of the memory asked for");
}

// What `study best` prints of a study with the job.
std::string BestOf(const TrainingJob& job) {
  StudyRecord study;
  study.study.spec.name = "census";
  study.study.spec.objectives = {{.metric = "loss"}};
  study.study.spec.job = job;
  TrialRecord best;
  best.trial.number = TrialNumber(3);
  return DescribeBest(study, study.study.spec, best, absl::UnixEpoch()).Text();
}

TEST(DescribeBest, GivesACommandThatAShellCanRun) {
  TrainingJob job{.command = {"./train", "--steps", "9"}};
  EXPECT_THAT(BestOf(job), HasSubstr("reproduce   ./train --steps 9\n"));
  job = {.python = PythonProgram{.module = "trainer.task"}};
  job.working_directory = "/src";
  EXPECT_THAT(BestOf(job), HasSubstr("reproduce   cd /src && python3 -m trainer.task\n"));
  job.replicas[Role::kWorker].count = 2;
  EXPECT_THAT(BestOf(job), HasSubstr("its chief   cd /src && python3 -m trainer.task\n"));
  EXPECT_THAT(BestOf(job), HasSubstr("reproduce   vernier trial repeat census 3\n"));
}

TEST(DescribeBest, LeavesToTheServerWhatNeedsAnEnvironmentOrAnImage) {
  const PythonProgram packaged{.module = "trainer.task", .packages = {"trainer.tar.gz"}};
  const PythonProgram of_runtime{.module = "trainer.task", .runtime = "2.11"};
  const PythonProgram built_in{.module = "vernier_trainers.xgboost"};
  for (const TrainingJob& job : {TrainingJob{.python = packaged},
                                 TrainingJob{.python = of_runtime},
                                 TrainingJob{.python = built_in},
                                 TrainingJob{.image = "org/trainer:1"}}) {
    EXPECT_THAT(BestOf(job), HasSubstr("reproduce   vernier trial repeat census 3\n"));
    EXPECT_THAT(BestOf(job), Not(HasSubstr("python3")));
    EXPECT_THAT(BestOf(job), Not(HasSubstr("its chief")));
  }
}

TEST(DescribeConvergence, SaysNothingUnlessAsked) { EXPECT_EQ(DescribeConvergence(Study()), ""); }

TEST(DescribeConvergence, KnowsWhetherTheStudyGoesOn) {
  Study study = WithConvergence(false);
  EXPECT_EQ(DescribeConvergence(study), "not yet, tolerance 0.01");
  study.state = StudyState::kCompleted;
  EXPECT_EQ(DescribeConvergence(study), "no, tolerance 0.01");
}

TEST(DescribeConvergence, CountsWhatStoppingSavesWhileItCanBeStopped) {
  Study study = Converged(false);
  EXPECT_EQ(DescribeConvergence(study),
            "at trial 17: a further one is expected to improve loss by less than 0.01; "
            "stopping saves 20 of 40 trials");
  study.state = StudyState::kCompleted;
  EXPECT_EQ(DescribeConvergence(study),
            "at trial 17: a further one is expected to improve loss by less than 0.01");
  study.best.reset();  // Nothing to improve.
  EXPECT_EQ(DescribeConvergence(study), "no, tolerance 0.01");
}

TEST(DescribeConvergence, LeavesTheReasonToTheStateOfAStudyThatEndedForIt) {
  Study study = Converged(true);
  study.state = StudyState::kCompleted;
  EXPECT_EQ(DescribeConvergence(study), "at trial 17");
}

TEST(DescribeStudy, HasALineOfEarlyStoppingIfThereIsSomethingToSay) {
  StudyRecord study;
  study.study.spec.name = "digits";
  study.study.spec.objectives = {{.metric = "accuracy"}};
  StudyFacts facts;
  EXPECT_THAT(DescribeStudy(study, facts, absl::UTCTimeZone()), Not(HasSubstr("early stopping")));
  facts.early_stopping = "1 of 9 trials stopped";
  EXPECT_THAT(DescribeStudy(study, facts, absl::UTCTimeZone()),
              HasSubstr("early stopping  1 of 9 trials stopped\n"));
}

TEST(DescribeStudy, CountsStoppedAndPausedTrials) {
  StudyRecord study;
  study.study.spec.name = "digits";
  study.study.spec.objectives = {{.metric = "accuracy"}};
  study.study.trials = 9;
  const StudyFacts facts = {.stopped = 2, .paused = 3};
  EXPECT_THAT(DescribeStudy(study, facts, absl::UTCTimeZone()),
              HasSubstr("9 trials, no bound, 2 stopped early, 3 paused\n"));
}

TEST(DescribeParallel, HasAWordForNoBound) {
  EXPECT_EQ(DescribeParallel(4), "4");
  EXPECT_EQ(DescribeParallel(10000), "any number");
}

}  // namespace
}  // namespace vernier::cli
