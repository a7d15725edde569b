#include "src/jobs/built_in_algorithms.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/training_job_validation.h"
#include "src/jobs/resolution.h"
#include "tests/support/status_matchers.h"

namespace vernier::jobs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

TrainingInput InputOf(const std::string& image) {
  TrainingInput input = {.args = {"--max_depth=3"}, .job_dir = "out"};
  input.master_config.emplace().image_uri = image;
  return input;
}

absl::StatusOr<TrainingJob> ResolveInput(TrainingInput input) {
  TrainingJob job;
  job.input = std::move(input);
  return Resolve(std::move(job), StandardCatalogue());
}

std::string MessageOf(TrainingInput input) {
  const auto job = ResolveInput(std::move(input));
  EXPECT_THAT(job.status(), StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(job.status().message());
}

TEST(BuiltInAlgorithms, AreTheTrainersThatTheirImagesName) {
  const std::pair<const char*, const char*> modules[] = {
      {"gcr.io/cloud-ml-algos/boosted_trees:latest", "vernier_trainers.xgboost"},
      {"gcr.io/cloud-ml-algos/boosted_trees", "vernier_trainers.xgboost"},
      {"gcr.io/cloud-ml-algos/xgboost_dist:latest", "vernier_trainers.xgboost"},
      {"gcr.io/cloud-ml-algos/linear_learner_cpu:latest", "vernier_trainers.linear_learner"},
      {"gcr.io/cloud-ml-algos/linear_learner_gpu@sha256:1", "vernier_trainers.linear_learner"},
      {"gcr.io/cloud-ml-algos/tab_net:latest", "vernier_trainers.tab_net"},
      {"gcr.io/cloud-ml-algos/wide_deep_learner_cpu:latest", "vernier_trainers.wide_deep"},
      {"gcr.io/cloud-ml-algos/wide_deep_learner_gpu:latest", "vernier_trainers.wide_deep"}};
  for (const auto& [image, module] : modules) {
    const auto job = ResolveInput(InputOf(image));
    ASSERT_THAT(job.status(), IsOk()) << image;
    EXPECT_EQ(job->python->module, module);
    EXPECT_THAT(job->python->packages, IsEmpty());
    EXPECT_THAT(job->args, ElementsAre("--max_depth=3"));
    EXPECT_EQ(job->job_directory, "out");
    EXPECT_EQ(job->replicas.size(), 1u);
  }
}

TEST(BuiltInAlgorithms, ResolveAgainToTheSame) {
  const auto job = ResolveInput(InputOf("gcr.io/cloud-ml-algos/boosted_trees:latest"));
  ASSERT_THAT(job.status(), IsOk());
  const auto again = Resolve(*job, StandardCatalogue());
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_EQ(*again, *job);
}

TEST(BuiltInAlgorithms, TakePackagesAndARuntime) {
  TrainingInput input = InputOf("gcr.io/cloud-ml-algos/boosted_trees:latest");
  input.package_uris = {"xgboost"};
  input.runtime_version = "2.11";
  const auto job = ResolveInput(input);
  ASSERT_THAT(job.status(), IsOk());
  EXPECT_THAT(job->python->packages, ElementsAre("xgboost"));
  EXPECT_EQ(job->python->runtime, "2.11");
}

TEST(BuiltInAlgorithms, AreRefusedWhereNotOfferedWithThoseThatAre) {
  for (const char* const name : {"image_classification", "image_object_detection", ""}) {
    EXPECT_EQ(MessageOf(InputOf(std::string("gcr.io/cloud-ml-algos/") + name + ":latest")),
              std::string("trainingInput.masterConfig.imageUri: the built-in algorithm '") + name +
                  "' is not offered; offered are boosted_trees, linear_learner_cpu, "
                  "linear_learner_gpu, tab_net, wide_deep_learner_cpu, wide_deep_learner_gpu, "
                  "xgboost_dist");
  }
}

TEST(BuiltInAlgorithms, CannotGoWithAnotherProgram) {
  const std::string tail =
      ": cannot go with a built-in algorithm, which has its program; give it args";
  TrainingInput input = InputOf("gcr.io/cloud-ml-algos/boosted_trees:latest");
  input.python_module = "trainer.task";
  EXPECT_EQ(MessageOf(input), "trainingInput.pythonModule" + tail);
  input.python_module.clear();
  input.master_config->container_args = {"--x"};
  EXPECT_EQ(MessageOf(input), "trainingInput.masterConfig.containerArgs" + tail);
  input.master_config->container_command = {"sh"};
  EXPECT_EQ(MessageOf(input), "trainingInput.masterConfig.containerCommand" + tail);
}

// An input of tier CUSTOM, with workers.
TrainingInput InputWithWorkers(const std::string& image, std::int64_t workers) {
  TrainingInput input = InputOf(image);
  input.scale_tier = "CUSTOM";
  input.master_type = "n1-standard-4";
  input.worker_type = "n1-standard-4";
  input.worker_count = workers;
  return input;
}

TEST(BuiltInAlgorithms, RunInOneReplica) {
  for (const char* const name : {"tab_net", "wide_deep_learner_gpu"}) {
    EXPECT_THAT(
        MessageOf(InputWithWorkers(std::string("gcr.io/cloud-ml-algos/") + name + ":latest", 1)),
        HasSubstr("workerCount: must be 0, since this built-in algorithm runs in one replica"));
  }
  TrainingInput input = InputOf("gcr.io/cloud-ml-algos/linear_learner_cpu:latest");
  input.scale_tier = "STANDARD_1";
  EXPECT_EQ(MessageOf(input),
            "trainingInput.scaleTier: must be BASIC, BASIC_GPU or CUSTOM, since this built-in "
            "algorithm runs in one replica, got 'STANDARD_1'");
  input = InputWithWorkers("gcr.io/cloud-ml-algos/linear_learner_cpu:latest", 2);
  EXPECT_EQ(MessageOf(input),
            "trainingInput.workerCount: must be 0, since this built-in algorithm runs in one "
            "replica, got 2");
}

TEST(BuiltInAlgorithms, XgboostTakesWorkersAndNoOtherRole) {
  for (const char* const name : {"boosted_trees", "xgboost_dist"}) {
    TrainingInput input =
        InputWithWorkers(std::string("gcr.io/cloud-ml-algos/") + name + ":latest", 2);
    const auto job = ResolveInput(input);
    ASSERT_THAT(job.status(), IsOk());
    EXPECT_EQ(job->replicas.at(Role::kWorker).count, 2);
    EXPECT_THAT(CheckTrainingJob(*job), IsOk());
    input.evaluator_type = "n1-standard-4";
    input.evaluator_count = 1;
    EXPECT_EQ(MessageOf(input),
              "trainingInput.evaluatorCount: must be 0, since this built-in algorithm runs in a "
              "master and workers, got 1");
    input = InputOf(input.master_config->image_uri);
    input.scale_tier = "STANDARD_1";
    EXPECT_EQ(MessageOf(input),
              "trainingInput.scaleTier: must be BASIC, BASIC_GPU or CUSTOM, since this built-in "
              "algorithm runs in a master and workers, got 'STANDARD_1'");
  }
}

TEST(BuiltInAlgorithms, WorkersMayNameTheImageOfTheMaster) {
  const std::string image = "gcr.io/cloud-ml-algos/xgboost_dist:latest";
  TrainingInput input = InputWithWorkers(image, 1);
  input.worker_config.emplace().image_uri = image;
  EXPECT_THAT(ResolveInput(input).status(), IsOk());
  input.worker_config->image_uri = "gcr.io/cloud-ml-algos/linear_learner_cpu:latest";
  EXPECT_EQ(MessageOf(input),
            "trainingInput.workerConfig.imageUri: must be the master's, '" + image +
                "', got 'gcr.io/cloud-ml-algos/linear_learner_cpu:latest'");
  input.worker_config->image_uri = "gcr.io/cloud-ml-algos/image_classification:latest";
  EXPECT_THAT(MessageOf(input),
              HasSubstr("workerConfig.imageUri: the built-in algorithm 'image_classification' is "
                        "not offered"));
  input.worker_config->image_uri = image;
  input.master_config->image_uri = "gcr.io/cloud-ml-algos/linear_learner_cpu:latest";
  EXPECT_EQ(MessageOf(input),
            "trainingInput.workerConfig.imageUri: is a built-in algorithm, which runs on the "
            "master alone");
  input.master_config->image_uri = "org/trainer:1";
  EXPECT_EQ(MessageOf(input),
            "trainingInput.workerConfig.imageUri: is a built-in algorithm, which "
            "masterConfig.imageUri must name as well");
  input = InputWithWorkers(image, 1);
  input.evaluator_config.emplace().image_uri = image;
  EXPECT_EQ(MessageOf(input),
            "trainingInput.evaluatorConfig.imageUri: is a built-in algorithm, which runs on the "
            "master and workers alone");
}

TEST(BuiltInAlgorithms, AreNotImagesOfOtherRegistries) {
  for (const char* const image :
       {"gcr.io/my-project/boosted_trees", "cloud-ml-algos/boosted_trees"}) {
    const auto program = BuiltInProgram(InputOf(image));
    ASSERT_THAT(program.status(), IsOk());
    EXPECT_EQ(*program, std::nullopt);
  }
  EXPECT_EQ(*BuiltInProgram(TrainingInput()), std::nullopt);
}

}  // namespace
}  // namespace vernier::jobs
