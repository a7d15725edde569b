#include "src/jobs/resolution.h"

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::jobs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;

TrainingInput AnyInput() {
  return {.scale_tier = "CUSTOM",
          .master_type = "n1-highcpu-16",
          .package_uris = {"trainer.tar.gz"},
          .python_module = "trainer.task"};
}

AcceleratorConfig Gpus(std::int64_t count, const std::string& type) {
  return {.type = type, .count = count};
}

TrainingJob JobOf(TrainingInput input) {
  TrainingJob job;
  job.input = std::move(input);
  return job;
}

absl::StatusOr<TrainingJob> ResolveHere(TrainingInput input) {
  return Resolve(JobOf(std::move(input)), StandardCatalogue());
}

struct Totals {
  int replicas = 0, gpus = 0;
  double cpus = 0;
  std::int64_t memory_gb = 0;
};
Totals Sum(const TrainingJob& job) {
  Totals totals;
  for (const auto& [role, replica] : job.replicas) {
    totals.replicas += replica.count;
    totals.gpus += replica.count * replica.resources.gpus;
    totals.cpus += replica.count * replica.resources.cpus;
    totals.memory_gb += replica.count * (replica.resources.memory_bytes >> 20);
  }
  totals.memory_gb /= 1024;
  return totals;
}

// Both examples are of AI Platform Training's documentation, «Using GPUs».
TrainingInput ComputeEngineExample() {
  TrainingInput input = AnyInput();
  input.master_config.emplace().accelerator_config = Gpus(4, "NVIDIA_TESLA_T4");
  input.worker_count = 9;
  input.worker_type = "n1-highcpu-16";
  input.worker_config = input.master_config;
  input.parameter_server_count = 3;
  input.parameter_server_type = "n1-highmem-8";
  return input;
}

TrainingInput OlderTypesExample() {
  TrainingInput input = AnyInput();
  input.master_type = "complex_model_m_gpu";
  input.worker_count = 9;
  input.worker_type = "complex_model_m_gpu";
  input.parameter_server_count = 3;
  input.parameter_server_type = "large_model";
  return input;
}

TrainingInput ImageExample() {
  TrainingInput input = ComputeEngineExample();
  input.package_uris.clear();
  input.python_module.clear();
  input.master_config->image_uri = "org/trainer:1";
  return input;
}

TEST(Resolve, MakesThirteenReplicasWithFortyGpusOfTheDocumentedExamples) {
  for (const TrainingInput& input : {ComputeEngineExample(), OlderTypesExample()}) {
    const auto job = ResolveHere(input);
    ASSERT_THAT(job.status(), IsOk());
    EXPECT_EQ(Sum(*job).replicas, 13);
    EXPECT_EQ(Sum(*job).gpus, 40);
    EXPECT_EQ(Sum(*job).cpus, 184);
  }
  EXPECT_EQ(Sum(*ResolveHere(OlderTypesExample())).memory_gb, 756);
  EXPECT_EQ(ResolveHere(OlderTypesExample())->replicas.at(Role::kWorker).resources.gpu_type, "K80");
}

TEST(Resolve, KnowsThePredefinedTiers) {
  TrainingInput input = AnyInput();
  input.master_type.clear();
  const auto sum_of = [&](const char* tier) {
    input.scale_tier = tier;
    return Sum(*ResolveHere(input));
  };
  EXPECT_EQ(sum_of("").replicas, 1);
  EXPECT_EQ(sum_of("BASIC").cpus, 4);
  EXPECT_EQ(sum_of("STANDARD_1").replicas, 8);
  EXPECT_EQ(sum_of("PREMIUM_1").replicas, 31);
  EXPECT_EQ(sum_of("BASIC_GPU").gpus, 1);
}

TEST(Resolve, TakesTheTypeOfARoleWithoutReplicas) {
  TrainingInput input = ComputeEngineExample();
  input.worker_count = 0;
  input.parameter_server_count = 0;
  const auto job = ResolveHere(input);
  ASSERT_THAT(job.status(), IsOk());
  EXPECT_EQ(Sum(*job).replicas, 1);
}

TEST(Resolve, FillsInTheProgramAndItsLimits) {
  TrainingInput input = AnyInput();
  input.args = {"--steps", "9"};
  input.job_dir = "out";
  input.region = "us-central1";
  input.runtime_version = "2.11";
  input.scheduling = {
      .max_running_time = absl::Seconds(7200), .max_wait_time = absl::Seconds(3600), .priority = 7};
  const auto job = ResolveHere(input);
  ASSERT_THAT(job.status(), IsOk());
  EXPECT_EQ(job->python->module, "trainer.task");
  EXPECT_THAT(job->python->packages, ElementsAre("trainer.tar.gz"));
  EXPECT_EQ(job->python->runtime, "2.11");
  EXPECT_THAT(job->args, ElementsAre("--steps", "9"));
  EXPECT_EQ(job->job_directory, "out");
  EXPECT_EQ(job->region, "us-central1");
  EXPECT_EQ(job->trial_limit, absl::Seconds(7200));
  EXPECT_EQ(job->wait_limit, absl::Seconds(3600));
  EXPECT_EQ(job->priority, 7);
  EXPECT_EQ(job->primary_name, "chief");
}

TEST(Resolve, RunsTheImageOfTheMasterInEveryRoleThatHasNone) {
  TrainingInput input = ImageExample();
  input.args = {"--steps", "9"};
  input.parameter_server_config.emplace().image_uri = "org/ps:1";
  const auto job = ResolveHere(input);
  ASSERT_THAT(job.status(), IsOk());
  EXPECT_EQ(job->image, "org/trainer:1");
  EXPECT_EQ(job->replicas.at(Role::kWorker).image, "");
  EXPECT_EQ(job->replicas.at(Role::kParameterServer).image, "org/ps:1");
  EXPECT_THAT(job->args, ElementsAre("--steps", "9"));
  EXPECT_FALSE(job->python.has_value());
  EXPECT_EQ(*Resolve(*job, StandardCatalogue()), *job);
}

TEST(Resolve, GivesEachRoleItsOwnContainerCommandAndArguments) {
  TrainingInput input = ImageExample();
  input.master_config->container_command = {"python3", "main.py"};
  input.worker_config->container_args = {"--work"};
  const auto job = ResolveHere(input);
  ASSERT_THAT(job.status(), IsOk());
  EXPECT_THAT(job->replicas.at(Role::kPrimary).command, ElementsAre("python3", "main.py"));
  EXPECT_TRUE(job->replicas.at(Role::kPrimary).args.empty());
  EXPECT_TRUE(job->replicas.at(Role::kWorker).command.empty());
  EXPECT_THAT(job->replicas.at(Role::kWorker).args, ElementsAre("--work"));
}

TEST(Resolve, CallsThePrimaryOfImagesMasterUnlessTheySayChief) {
  TrainingInput input = ImageExample();
  EXPECT_EQ(ResolveHere(input)->primary_name, "master");
  input.use_chief_in_tf_config = true;
  EXPECT_EQ(ResolveHere(input)->primary_name, "chief");
}

TEST(Resolve, CallsThePrimaryMasterForTensorFlow1) {
  TrainingInput input = AnyInput();
  input.runtime_version = "1.15";
  EXPECT_EQ(ResolveHere(input)->primary_name, "master");
}

TEST(Resolve, ChangesNothingASecondTime) {
  const TrainingJob once = *ResolveHere(ComputeEngineExample());
  EXPECT_EQ(*Resolve(once, StandardCatalogue()), once);
}

struct BadInput {
  std::string name;
  std::function<void(TrainingInput&)> spoil;
  std::string error;
};
class BadTrainingInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadTrainingInputTest, IsRefusedWithASentence) {
  TrainingInput input = ComputeEngineExample();
  GetParam().spoil(input);
  EXPECT_EQ(std::string(ResolveHere(input).status().message()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadTrainingInputTest,
    ::testing::ValuesIn(std::vector<BadInput>{
        {"UnknownTier",
         [](TrainingInput& input) { input.scale_tier = "STANDARD"; },
         "trainingInput.scaleTier: unknown tier 'STANDARD'; did you mean 'STANDARD_1'?"},
        {"Tpu",
         [](TrainingInput& input) { input.scale_tier = "BASIC_TPU"; },
         "trainingInput.scaleTier: 'BASIC_TPU' needs a TPU, which no host of this server has"},
        {"TypeWithoutCustom",
         [](TrainingInput& input) { input.scale_tier = "BASIC"; },
         "trainingInput.masterType: needs scaleTier CUSTOM, which is BASIC"},
        {"CountWithoutCustom",
         [](TrainingInput& input) {
           input = AnyInput();
           input.scale_tier = "STANDARD_1";
           input.master_type.clear();
           input.worker_count = 2;
         },
         "trainingInput.workerCount: needs scaleTier CUSTOM, which is STANDARD_1"},
        {"NoMasterType",
         [](TrainingInput& input) { input.master_type.clear(); },
         "trainingInput.masterType: is missing; scaleTier CUSTOM needs it"},
        {"NoWorkerType",
         [](TrainingInput& input) { input.worker_type.clear(); },
         "trainingInput.workerType: is missing; workerCount is 9"},
        {"TypeOfNoWorkers",
         [](TrainingInput& input) {
           input.worker_count = 0;
           input.worker_config.reset();
           input.worker_type = "n1-highcpu-17";
         },
         "trainingInput.workerType: unknown machine type 'n1-highcpu-17'; did you mean "
         "'n1-highcpu-16'?"},
        {"AcceleratorOfNoWorkers",
         [](TrainingInput& input) {
           input.worker_count = 0;
           input.worker_config->accelerator_config = Gpus(99, "NVIDIA_TESLA_FOO");
         },
         "trainingInput.workerConfig.acceleratorConfig.type: unknown accelerator "
         "'NVIDIA_TESLA_FOO'; did you mean 'NVIDIA_TESLA_K80'?"},
        {"AcceleratorWithoutType",
         [](TrainingInput& input) {
           input.evaluator_config.emplace().accelerator_config = Gpus(1, "NVIDIA_TESLA_T4");
         },
         "trainingInput.evaluatorType: is missing; evaluatorConfig.acceleratorConfig needs it"},
        {"NegativeCount",
         [](TrainingInput& input) { input.worker_count = -1; },
         "trainingInput.workerCount: must be from 0 to 10000, got -1"},
        {"FamiliesMixed",
         [](TrainingInput& input) { input.parameter_server_type = "large_model"; },
         "trainingInput.parameterServerType: must be a Compute Engine machine type like masterType "
         "'n1-highcpu-16', got 'large_model'"},
        {"ThreeT4",
         [](TrainingInput& input) { input.worker_config->accelerator_config->count = 3; },
         "trainingInput.workerConfig.acceleratorConfig.count: machine type 'n1-highcpu-16' takes 1 "
         "or 2 or 4 of NVIDIA_TESLA_T4, got 3"},
        {"GpusOfThreeZones",
         [](TrainingInput& input) {
           input.region = "us-central1";
           input.worker_config->accelerator_config->type = "NVIDIA_TESLA_P100";
           input.parameter_server_config.emplace().accelerator_config = Gpus(1, "NVIDIA_TESLA_K80");
         },
         "trainingInput.region: no zone of region 'us-central1' has all of NVIDIA_TESLA_K80, "
         "NVIDIA_TESLA_P100, NVIDIA_TESLA_T4"},
        {"NoPackage",
         [](TrainingInput& input) { input.package_uris.clear(); },
         "trainingInput.packageUris: must name the package that holds pythonModule; or give "
         "masterConfig.imageUri"},
        {"ImageAndPackage",
         [](TrainingInput& input) { input.master_config->image_uri = "i"; },
         "trainingInput.packageUris: cannot go with masterConfig.imageUri, which brings the "
         "program "
         "with it"},
        {"ImageAndModule",
         [](TrainingInput& input) {
           input.master_config->image_uri = "i";
           input.package_uris.clear();
         },
         "trainingInput.pythonModule: cannot go with masterConfig.imageUri, which brings the "
         "program "
         "with it"},
        {"ImageAndRuntime",
         [](TrainingInput& input) {
           input = ImageExample();
           input.runtime_version = "2.11";
         },
         "trainingInput.runtimeVersion: cannot go with masterConfig.imageUri, which brings the "
         "program with it"},
        {"ImageOfWorkersAlone",
         [](TrainingInput& input) { input.worker_config->image_uri = "i"; },
         "trainingInput.workerConfig.imageUri: needs masterConfig.imageUri: either all roles have "
         "one, or none"},
        {"ContainerCommandWithoutImage",
         [](TrainingInput& input) { input.master_config->container_command = {"c"}; },
         "trainingInput.masterConfig.containerCommand: needs masterConfig.imageUri"},
        {"ContainerArgsAndArgs",
         [](TrainingInput& input) {
           input = ImageExample();
           input.args = {"--steps", "9"};
           input.worker_config->container_args = {"x"};
         },
         "trainingInput.workerConfig.containerArgs: cannot go with args; give one of them"},
        {"TpuVersion",
         [](TrainingInput& input) { input.worker_config->tpu_tf_version = "2.11"; },
         "trainingInput.workerConfig.tpuTfVersion: is for TPUs, which no host of this server has"},
        {"NoModule",
         [](TrainingInput& input) { input.python_module.clear(); },
         "trainingInput.pythonModule: is missing; it names the module to run, such as "
         "trainer.task"},
        {"PackageInABucket",
         [](TrainingInput& input) { input.package_uris.push_back("gs://b/dep.tar.gz"); },
         "trainingInput.packageUris[1]: must be a file, a package's name or a URL that pip reads, "
         "such as https://; nothing here reads gs://, got 'gs://b/dep.tar.gz'"},
        {"TooManyPackages",
         [](TrainingInput& input) { input.package_uris.assign(101, "p"); },
         "trainingInput.packageUris: must be at most 100, got 101"},
        {"Priority",
         [](TrainingInput& input) { input.scheduling.emplace().priority = 1001; },
         "trainingInput.scheduling.priority: must be from 0 to 1000, got 1001"},
        {"ShortWait",
         [](TrainingInput& input) { input.scheduling.emplace().max_wait_time = absl::Seconds(60); },
         "trainingInput.scheduling.maxWaitTime: must be at least 1800s, got 60s"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(Resolve, RefusesWhatIsSaidTwiceInTwoWays) {
  TrainingJob job = JobOf(AnyInput());
  job.args = {"--other"};
  EXPECT_EQ(Resolve(job, StandardCatalogue()).status().message(),
            "job.args: is what job.trainingInput says");
}

TEST(Resolve, GivesAPlainReplicaWhatItsMachineHas) {
  TrainingJob job{.command = {"train"}};
  ReplicaSpec& chief = job.replicas.at(Role::kPrimary);
  chief.machine_type = "n1-standard-8";
  chief.resources.gpus = 2;
  chief.resources.gpu_type = "T4";
  const auto resolved = Resolve(job, StandardCatalogue());
  ASSERT_THAT(resolved.status(), IsOk());
  const Resources& resources = resolved->replicas.at(Role::kPrimary).resources;
  EXPECT_EQ(resources.cpus, 8);
  EXPECT_EQ(resources.memory_bytes, std::int64_t{30} << 30);
  EXPECT_EQ(resources.gpus, 2);
  EXPECT_EQ(*Resolve(*resolved, StandardCatalogue()), *resolved);

  chief.resources.gpus = 3;
  EXPECT_EQ(Resolve(job, StandardCatalogue()).status().message(),
            "job.replicas.chief.gpus: machine type 'n1-standard-8' takes 1 or 2 or 4 of "
            "NVIDIA_TESLA_T4, got 3");
  chief.resources = {.cpus = 4};
  EXPECT_EQ(Resolve(job, StandardCatalogue()).status().message(),
            "job.replicas.chief.cpus: machine 'n1-standard-8' has 8, got 4; leave it out");
}

TEST(Resolve, NamesTheFieldOfThePlainReplicaWhoseGpusDoNotSuitItsMachine) {
  TrainingJob job;
  job.command = {"train"};
  ReplicaSpec& chief = job.replicas[Role::kPrimary];
  chief.machine_type = "n1-highcpu-16";
  chief.resources.gpus = 3;
  chief.resources.gpu_type = "T4";
  EXPECT_EQ(Resolve(job, StandardCatalogue()).status().message(),
            "job.replicas.chief.gpus: machine type 'n1-highcpu-16' takes 1 or 2 or 4 of "
            "NVIDIA_TESLA_T4, got 3");
  chief.machine_type = "n1-standard-96";
  chief.resources.gpu_type = "K80";
  EXPECT_EQ(GetField(Resolve(job, StandardCatalogue()).status()), "job.replicas.chief.gpu_type");
}

TEST(Resolve, TakesNoPackageOfAPlainJobFromABucket) {
  TrainingJob job;
  job.python = PythonProgram{.module = "trainer.task", .packages = {"gs://b/p.tar.gz"}};
  EXPECT_EQ(GetField(Resolve(job, StandardCatalogue()).status()), "job.python.packages[0]");
  job.python->packages = {"https://host/p.tar.gz"};
  EXPECT_THAT(Resolve(job, StandardCatalogue()).status(), IsOk());
}

TEST(FieldsWithoutEffect, NamesWhatOnlyACloudHas) {
  TrainingInput input = AnyInput();
  EXPECT_THAT(FieldsWithoutEffect(input), IsEmpty());
  input.network = "n";
  input.worker_config.emplace().disk_config.emplace().boot_disk_size_gb = 200;
  EXPECT_THAT(FieldsWithoutEffect(input),
              ElementsAre("trainingInput.network", "trainingInput.workerConfig.diskConfig"));
}

}  // namespace
}  // namespace vernier::jobs
