#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/container/command_line.h"

namespace vernier::launch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::Pair;

constexpr char kFolder[] = "/runs/digits/trial-7/attempt-1/worker-0";

ContainerEngine Podman() {
  return {.kind = EngineKind::kPodman,
          .program = "/usr/bin/podman",
          .user = "0:0",
          .cpus = 8,
          .limits_memory = true};
}

ContainerEngine Docker() {
  return {.kind = EngineKind::kDocker,
          .program = "/usr/bin/docker",
          .user = "1000:100",
          .cpus = 8,
          .limits_memory = true,
          .has_init = true};
}

ContainerEngine Apptainer() {
  return {.kind = EngineKind::kApptainer,
          .program = "/usr/bin/apptainer",
          .images_directory = "/runs/.images"};
}

ReplicaProgram Program() {
  ReplicaProgram program{.role = "worker", .argv = {"--lr=0.1"}, .env = {{"A", "one, \"two\""}}};
  program.container = ReplicaContainer{.image = "org/trainer:1"};
  return program;
}

SupervisedProgram Supervised(const ContainerEngine& engine,
                             const ReplicaProgram& program,
                             std::vector<std::string> gpus = {},
                             Share share = {}) {
  return ContainerProgram(engine,
                          program,
                          {.folder = kFolder, .gpus = std::move(gpus), .share = share},
                          {"/sys/fs/cgroup/worker-0"});
}

// The values that an option is given.
std::vector<std::string> Values(const std::vector<std::string>& argv, const std::string& option) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i + 1 < argv.size(); ++i) {
    if (argv[i] == option) values.push_back(argv[i + 1]);
  }
  return values;
}

// The words from the image on.
std::vector<std::string> Tail(const std::vector<std::string>& argv, const std::string& image) {
  return {std::ranges::find(argv, image), argv.end()};
}

TEST(ContainerProgram, IsTheWholeCommandLineOfPodman) {
  EXPECT_THAT(Supervised(Podman(), Program()).argv,
              ElementsAre("/usr/bin/podman",
                          "run",
                          "--name",
                          ContainerName(kFolder),
                          "--label",
                          "vernier.replica=/runs/digits/trial-7/attempt-1/worker-0",
                          "--pull",
                          "never",
                          "--network",
                          "host",
                          "--ipc",
                          "host",
                          "--log-driver",
                          "none",
                          "--security-opt",
                          "label=disable",
                          "--user",
                          "0:0",
                          "--mount",
                          "type=bind,source=/runs/digits/trial-7/attempt-1/worker-0,"
                          "destination=/runs/digits/trial-7/attempt-1/worker-0",
                          "--env",
                          "A=one, \"two\"",
                          "--env",
                          "VERNIER_REPLICA_DIRECTORY=/runs/digits/trial-7/attempt-1/worker-0",
                          "org/trainer:1",
                          "--lr=0.1"));
}

TEST(ContainerProgram, RemovesAtOnceAndAsksWhatBecameOfIt) {
  const ContainerSteps podman = Supervised(Podman(), Program()).container;
  const std::string name = ContainerName(kFolder);
  EXPECT_FALSE(podman.within_client);
  EXPECT_THAT(podman.remove,
              ElementsAre("/usr/bin/podman", "rm", "--force", "--volumes", "--time", "0", name));
  EXPECT_THAT(podman.inspect,
              ElementsAre("/usr/bin/podman",
                          "container",
                          "inspect",
                          "--format",
                          "{{.State.OOMKilled}}|{{.State.StartedAt}}",
                          name));
  EXPECT_THAT(Supervised(Docker(), Program()).container.remove,
              ElementsAre("/usr/bin/docker", "rm", "--force", "--volumes", name));
}

TEST(ContainerProgram, RunsAsTheServersUserUnderDocker) {
  const SupervisedProgram docker = Supervised(Docker(), Program());
  EXPECT_THAT(Values(docker.argv, "--user"), ElementsAre("1000:100"));
  EXPECT_THAT(docker.argv, Contains("--init"));
  EXPECT_THAT(docker.env, IsEmpty()) << "the client's own environment is nobody's business";
}

TEST(ContainerProgram, KeepsTheTokenOffTheCommandLine) {
  ReplicaProgram program = Program();
  program.env["VERNIER_TOKEN"] = "1-secret";
  const SupervisedProgram podman = Supervised(Podman(), program);
  EXPECT_THAT(Values(podman.argv, "--env"), Contains("VERNIER_TOKEN"));
  EXPECT_THAT(podman.argv, Not(Contains(::testing::HasSubstr("secret"))));
  EXPECT_THAT(podman.env, ElementsAre(Pair("VERNIER_TOKEN", "1-secret")));
  const SupervisedProgram apptainer = Supervised(Apptainer(), program);
  EXPECT_THAT(apptainer.argv, Not(Contains(::testing::HasSubstr("secret"))));
  EXPECT_THAT(apptainer.env, Contains(Pair("APPTAINERENV_VERNIER_TOKEN", "1-secret")));
}

TEST(ContainerProgram, PassesSecretsOnByTheirNames) {
  ReplicaProgram program = Program();
  program.secrets["API_KEY"] = {.from_file = "/run/key"};
  EXPECT_THAT(Values(Supervised(Podman(), program).argv, "--env"), Contains("API_KEY"));
  EXPECT_EQ(ClientVariable(Podman(), "API_KEY"), "API_KEY");
  EXPECT_EQ(ClientVariable(Apptainer(), "API_KEY"), "APPTAINERENV_API_KEY");
}

TEST(ContainerProgram, PutsACommandInPlaceOfTheEntryPoint) {
  ReplicaProgram program = Program();
  program.argv = {"python3", "-m", "trainer.task", "--lr=0.1"};
  program.container->replaces_entry_point = true;
  const SupervisedProgram run = Supervised(Docker(), program);
  EXPECT_THAT(Values(run.argv, "--entrypoint"), ElementsAre("python3"));
  EXPECT_THAT(Tail(run.argv, "org/trainer:1"),
              ElementsAre("org/trainer:1", "-m", "trainer.task", "--lr=0.1"));
}

TEST(ContainerProgram, LeavesTheImageItsOwnArguments) {
  ReplicaProgram program = Program();
  program.argv.clear();
  const SupervisedProgram run = Supervised(Podman(), program);
  EXPECT_THAT(Values(run.argv, "--entrypoint"), IsEmpty());
  EXPECT_EQ(run.argv.back(), "org/trainer:1");
}

TEST(ContainerProgram, ShowsFoldersUnderTheirOwnPaths) {
  ReplicaProgram program = Program();
  program.container->directory = "/home/a, b";
  program.container->mounts = {"/home/a, b", "/data/\"x\"", "/home/a, b"};
  const SupervisedProgram run = Supervised(Docker(), program);
  EXPECT_THAT(Values(run.argv, "--workdir"), ElementsAre("/home/a, b"));
  EXPECT_THAT(Values(run.argv, "--mount"),
              ElementsAre("type=bind,source=/runs/digits/trial-7/attempt-1/worker-0,"
                          "destination=/runs/digits/trial-7/attempt-1/worker-0",
                          "type=bind,\"source=/home/a, b\",\"destination=/home/a, b\"",
                          "type=bind,\"source=/data/\"\"x\"\"\",\"destination=/data/\"\"x\"\"\""));
}

TEST(ContainerProgram, GivesDevicesAndCountsThemAnew) {
  ReplicaProgram program = Program();
  program.env["CUDA_VISIBLE_DEVICES"] = "2,GPU-ab";
  const SupervisedProgram podman = Supervised(Podman(), program, {"2", "GPU-ab"});
  EXPECT_THAT(Values(podman.argv, "--device"),
              ElementsAre("nvidia.com/gpu=2", "nvidia.com/gpu=GPU-ab"));
  EXPECT_THAT(podman.argv, Contains("CUDA_VISIBLE_DEVICES=0,GPU-ab"));
  const SupervisedProgram docker = Supervised(Docker(), program, {"2", "GPU-ab"});
  EXPECT_THAT(Values(docker.argv, "--gpus"), ElementsAre("\"device=2,GPU-ab\""));
  EXPECT_THAT(docker.argv, Contains("CUDA_VISIBLE_DEVICES=0,GPU-ab"));
  const SupervisedProgram apptainer = Supervised(Apptainer(), program, {"2", "GPU-ab"});
  EXPECT_THAT(apptainer.argv, Contains("--nv"));
  EXPECT_THAT(apptainer.env, Contains(Pair("APPTAINERENV_CUDA_VISIBLE_DEVICES", "2,GPU-ab")))
      << "it shows every device of the host";
}

TEST(ContainerProgram, HasTheEngineHoldItToItsShare) {
  const Share share{.cpu_millis = 1500, .memory_bytes = 64 << 20};
  const SupervisedProgram run = Supervised(Podman(), Program(), {}, share);
  EXPECT_THAT(Values(run.argv, "--cpus"), ElementsAre("1.500"));
  EXPECT_THAT(Values(run.argv, "--memory"), ElementsAre("67108864"));
  EXPECT_THAT(Values(run.argv, "--memory-swap"), ElementsAre("67108864"));
  EXPECT_THAT(run.control_groups, IsEmpty()) << "they would hold the client";
  EXPECT_EQ(run.share, Share());
}

TEST(ContainerProgram, AsksForNoLimitThatTheEngineCannotKeep) {
  ContainerEngine engine = Podman();
  engine.limits_memory = false;
  engine.cpus = 1;  // The whole host, for what asks for 1.5.
  const SupervisedProgram run =
      Supervised(engine, Program(), {}, {.cpu_millis = 1500, .memory_bytes = 64 << 20});
  EXPECT_THAT(run.argv, Not(Contains("--cpus")));
  EXPECT_THAT(run.argv, Not(Contains("--memory")));
}

TEST(ContainerProgram, TakesTheServersOwnArgumentsLast) {
  ContainerEngine engine = Podman();
  engine.arguments = {"--user", "app", "--ulimit", "nofile=1024:1024"};
  const SupervisedProgram run = Supervised(engine, Program());
  EXPECT_THAT(Values(run.argv, "--user"), ElementsAre("0:0", "app")) << "the last one counts";
  EXPECT_THAT(Tail(run.argv, "app"),
              ElementsAre("app", "--ulimit", "nofile=1024:1024", "org/trainer:1", "--lr=0.1"));
}

TEST(ContainerProgram, IsTheWholeCommandLineOfApptainer) {
  ReplicaProgram program = Program();
  program.container->image = "/images/trainer.sif";
  const SupervisedProgram run = Supervised(Apptainer(), program, {}, {.cpu_millis = 1500});
  EXPECT_THAT(run.argv,
              ElementsAre("/usr/bin/apptainer",
                          "run",
                          "--cleanenv",
                          "--no-home",
                          "--mount",
                          "type=bind,source=/runs/digits/trial-7/attempt-1/worker-0,"
                          "destination=/runs/digits/trial-7/attempt-1/worker-0",
                          "/images/trainer.sif",
                          "--lr=0.1"));
  EXPECT_THAT(run.env,
              ElementsAre(Pair("APPTAINERENV_A", "one, \"two\""),
                          Pair("APPTAINERENV_VERNIER_REPLICA_DIRECTORY", kFolder)));
  EXPECT_TRUE(run.container.within_client);
  EXPECT_THAT(run.container.remove, IsEmpty());
  EXPECT_THAT(run.control_groups, ElementsAre("/sys/fs/cgroup/worker-0"));
  EXPECT_EQ(run.share.cpu_millis, 1500);
}

TEST(ContainerProgram, RunsACommandWithoutTheRunscriptOfApptainer) {
  ReplicaProgram program = Program();
  program.argv = {"python3", "task.py"};
  program.container->replaces_entry_point = true;
  program.container->directory = "/work";
  const SupervisedProgram run = Supervised(Apptainer(), program);
  EXPECT_EQ(run.argv[1], "exec");
  EXPECT_THAT(Values(run.argv, "--pwd"), ElementsAre("/work"));
  EXPECT_THAT(run.argv, IsSupersetOf({"python3", "task.py"}));
}

TEST(ContainerName, IsOfTheReplicaAlone) {
  EXPECT_THAT(ContainerName(kFolder),
              ::testing::MatchesRegex("vernier-digits-trial-7-attempt-1-worker-0-[0-9a-f]{12}"));
  EXPECT_NE(ContainerName(kFolder), ContainerName(std::string("/other") + kFolder));
  EXPECT_THAT(ContainerName("/runs/a.b/trial-1/attempt-2~2/ps-0"),
              ::testing::MatchesRegex("vernier-a-b-trial-1-attempt-2-2-ps-0-[0-9a-f]{12}"));
}

TEST(ImageFile, IsOneForEachImageOfApptainer) {
  EXPECT_EQ(ImageFile(Podman(), "a"), "");
  EXPECT_THAT(ImageFile(Apptainer(), "a"),
              ::testing::MatchesRegex("/runs/\\.images/[0-9a-f]{12}\\.sif"));
  EXPECT_NE(ImageFile(Apptainer(), "a"), ImageFile(Apptainer(), "b"));
  EXPECT_EQ(ImageFile(Apptainer(), "/images/a.sif"), "/images/a.sif");
}

TEST(ImageSource, IsARegistryUnlessItSaysOtherwise) {
  EXPECT_EQ(ImageSource(Docker(), "org/a:1"), "org/a:1");
  EXPECT_EQ(ImageSource(Apptainer(), "org/a:1"), "docker://org/a:1");
  EXPECT_EQ(ImageSource(Apptainer(), "oras://registry/a"), "oras://registry/a");
  EXPECT_EQ(ImageSource(Apptainer(), "/images/a.sif"), "/images/a.sif");
}

}  // namespace
}  // namespace vernier::launch
