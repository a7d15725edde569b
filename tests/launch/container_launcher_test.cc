#include "src/launch/container/container_launcher.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/launch/container/command_line.h"
#include "src/launch/gang/replica_records.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using testing::Eventually;
using ::testing::HasSubstr;
using testing::IsAlive;
using testing::LocalGangTest;
using testing::Script;
using testing::Slurp;
using ::testing::StartsWith;
using vernier::testing::IsOk;
using vernier::testing::StatusIs;

// Gangs in containers of an engine of the tests' own (fake_engine.py), which is found on PATH.
class ContainerLauncherTest : public LocalGangTest {
 protected:
  ContainerLauncherTest() : path_(std::getenv("PATH")) {
    InstallEngine("podman");
    fs::create_directories(Out("bin/engine"));
    std::ofstream(Out("bin/engine/images")) << "trainer\n";
    setenv("PATH", fmt::format("{}:{}", Out("bin"), path_).c_str(), 1);
  }
  ~ContainerLauncherTest() override { setenv("PATH", path_.c_str(), 1); }

  void InstallEngine(const std::string& name) const {
    fs::create_directories(Out("bin"));
    fs::copy_file(VERNIER_FAKE_ENGINE, Out("bin/" + name));
  }

  std::unique_ptr<Launcher> NewContainers(ContainerHostOptions options = {}) {
    options.images_directory = Out("images");
    const auto host = std::make_shared<ContainerHost>(std::move(options));
    ProcessLauncherOptions local;
    local.containers = host;
    return NewContainerLauncher(NewLauncher(std::move(local)),
                                host,
                                VERNIER_SUPERVISOR,
                                OwnEnvironment({"*"}),
                                Out("fetching"));
  }

  GangProgram Containers(std::int64_t trial,
                         const std::vector<Script>& scripts,
                         PlacedGang placed,
                         const std::string& image = "trainer") const {
    GangProgram gang = Program(trial, scripts, std::move(placed));
    for (ReplicaProgram& replica : gang.replicas) {
      replica.container = ReplicaContainer{.image = image, .replaces_entry_point = true};
    }
    return gang;
  }

  GangProgram Run(Launcher& launcher,
                  std::int64_t trial,
                  const std::vector<Script>& scripts,
                  const std::string& image = "trainer") {
    const auto placed = launcher.Place(Request(trial, scripts));
    EXPECT_THAT(placed, IsOk());
    GangProgram gang = Containers(trial, scripts, placed.value_or(PlacedGang()), image);
    EXPECT_THAT(launcher.Start(gang), IsOk());
    return gang;
  }

  std::string Calls() const { return Slurp(Out("bin/engine/calls")); }
  std::size_t CountContainers() const {
    std::error_code error;
    const fs::directory_iterator entries(Out("bin/engine/containers"), error);
    return error ? 0 : static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }
  // The process that runs in the container, once it does.
  int ProcessOf(const GangProgram& gang, std::size_t i = 0) const {
    const std::string file =
        Out("bin/engine/containers/" + ContainerName(Folder(gang, i)) + "/process");
    EXPECT_TRUE(Eventually([&] { return !Slurp(file).empty(); }));
    return std::atoi(Slurp(file).c_str());
  }
  // Until the script has made $OUT/on.
  void AwaitBegun(Launcher& launcher) const {
    EXPECT_TRUE(
        Eventually([&] { return launcher.Check(Attempt(1)).ok() && fs::exists(Out("on")); }));
  }
  void Touch(const std::string& file) const { std::ofstream(Out("bin/engine/" + file)) << ""; }

 private:
  const std::string path_;
};

constexpr char kForEver[] = "echo on >> $OUT/on; while :; do sleep 0.05; done";

TEST_F(ContainerLauncherTest, RunsAGangAndLeavesNoContainer) {
  const auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher,
                               1,
                               {{"chief", 0, "echo said; echo $A > $OUT/chief"},
                                {"worker", 0, "echo worker > $OUT/worker"}});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  EXPECT_THAT(Slurp(Folder(gang, 0) + "/output.log"), HasSubstr(" O said\n"));
  EXPECT_TRUE(fs::exists(Out("chief")));
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, GivesNothingOfTheServersEnvironment) {
  setenv("VERNIER_TEST_SECRET", "hush", 1);
  const auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher, 1, {{"chief", 0, "env"}});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  const std::string output = Slurp(Folder(gang, 0) + "/output.log");
  EXPECT_THAT(output, HasSubstr("OUT="));
  EXPECT_THAT(output, ::testing::Not(HasSubstr("hush")));
}

TEST_F(ContainerLauncherTest, FetchesAnImageThatIsNotThereOnce) {
  std::ofstream(Out("bin/engine/remote")) << "org/other:2\n";
  const auto launcher = NewContainers();
  Run(*launcher, 1, {{"chief", 0, "true"}, {"worker", 0, "sleep 5"}}, "org/other:2");
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  Run(*launcher, 2, {{"chief", 0, "true"}}, "org/other:2");
  EXPECT_EQ(Await(*launcher, 2).state, AttemptState::kSucceeded);
  const std::string calls = Calls();
  const std::size_t first = calls.find("pull org/other:2\n");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(calls.find("pull org/other:2\n", first + 1), std::string::npos);
}

TEST_F(ContainerLauncherTest, StartsNothingBeforeItsImagesAreThere) {
  std::ofstream(Out("bin/engine/remote")) << "slow\n";
  Touch("slow");
  const auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher, 1, {{"chief", 0, "true"}}, "slow");
  EXPECT_TRUE(Eventually([&] { return Calls().find("pull slow") != std::string::npos; }));
  ASSERT_OK_AND_ASSIGN(const GangStatus status, launcher->Check(Attempt(1)));
  EXPECT_EQ(status.state, AttemptState::kStarting);
  EXPECT_FALSE(fs::exists(Folder(gang, 0)));
  fs::remove(Out("bin/engine/slow"));
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
}

TEST_F(ContainerLauncherTest, GoesOnAfterARestartWithWhatIsBeingFetched) {
  std::ofstream(Out("bin/engine/remote")) << "slow\n";
  Touch("slow");
  auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher, 1, {{"chief", 0, "true"}}, "slow");
  launcher = NewContainers();
  EXPECT_THAT(launcher->Adopt(Request(1, {{"chief", 0, ""}}), gang.placed),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher->Start(gang), IsOk());
  fs::remove(Out("bin/engine/slow"));
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  const std::string calls = Calls();
  EXPECT_EQ(calls.find("pull slow"), calls.rfind("pull slow"));
}

TEST_F(ContainerLauncherTest, StopsAGangWhoseImagesAreBeingFetched) {
  std::ofstream(Out("bin/engine/remote")) << "slow\n";
  Touch("slow");
  const auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher, 1, {{"chief", 0, "true"}}, "slow");
  EXPECT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kStopped);
  EXPECT_TRUE(Eventually([&] {
    return launcher->Check(Attempt(1)).ok() && IsDown(Observe(gang.placed.directory + "/images"));
  }));
  EXPECT_EQ(Calls().find("run "), std::string::npos);
}

TEST_F(ContainerLauncherTest, FailsAGangWhoseImageIsNowhere) {
  const auto launcher = NewContainers();
  Run(*launcher, 1, {{"chief", 0, "true"}}, "no/such:1");
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_EQ(status.failure, FailureClass::kUserError);
  EXPECT_FALSE(status.transient);
  EXPECT_THAT(status.message, StartsWith("the images no/such:1 could not be fetched: "));
  EXPECT_THAT(status.message, HasSubstr("not found in any registry"));
  EXPECT_THAT(launcher->Release(Attempt(1)), IsOk());
}

TEST_F(ContainerLauncherTest, TellsAnEngineThatIsDownFromAJobThatIsWrong) {
  const auto launcher = NewContainers();
  Run(*launcher, 1, {{"chief", 0, "true"}});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  Touch("down");
  Run(*launcher, 2, {{"chief", 0, "true"}});
  const GangStatus status = Await(*launcher, 2);
  EXPECT_EQ(status.failure, FailureClass::kInternal);
  EXPECT_TRUE(status.transient);
  EXPECT_THAT(status.message, HasSubstr("Cannot connect to the daemon"));
}

TEST_F(ContainerLauncherTest, PassesOnItsOwnStatus) {
  const auto launcher = NewContainers();
  for (const int status : {3, 125, 126, 127}) {
    Run(*launcher, status, {{"chief", 0, fmt::format("exit {}", status)}});
    const GangStatus end = Await(*launcher, status);
    EXPECT_EQ(end.failure, FailureClass::kUserError);
    EXPECT_EQ(end.message,
              fmt::format("The replica chief 0 exited with a non-zero status of {}. Termination "
                          "reason: Error. It printed no error message.",
                          status));
    EXPECT_THAT(launcher->Release(Attempt(status)), IsOk());
  }
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, ToldWhatCannotBeRun) {
  const auto launcher = NewContainers();
  const auto placed = launcher->Place(Request(1, {{"chief", 0, ""}}));
  ASSERT_THAT(placed, IsOk());
  GangProgram gang = Containers(1, {{"chief", 0, ""}}, *placed);
  gang.replicas.front().argv = {"/no/such/program"};
  EXPECT_THAT(launcher->Start(gang), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.failure, FailureClass::kUserError);
  EXPECT_EQ(status.message,
            "The replica chief 0 could not be started: Error: executable file `/no/such/program` "
            "not found.");
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, ToldInTheEnginesWordsWhatItDoesNotLike) {
  const auto launcher = NewContainers({.arguments = {"--bad-option", "x"}});
  Run(*launcher, 1, {{"chief", 0, "true"}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.failure, FailureClass::kInternal);
  EXPECT_TRUE(status.transient);
  EXPECT_EQ(status.message,
            "The replica chief 0 could not be started: Error: unknown flag: --bad-option.");
}

TEST_F(ContainerLauncherTest, RecognisesWhatRanOutOfMemory) {
  const auto launcher = NewContainers();
  Run(*launcher,
      1,
      {{"chief",
        0,
        "for c in $OUT/bin/engine/containers/*; do : > $c/out-of-memory; done; exit 137"}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.failure, FailureClass::kOutOfMemory);
  EXPECT_EQ(status.replicas.front().restarts, 0);
}

TEST_F(ContainerLauncherTest, StopsWithTermAndLeavesNoContainer) {
  const auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher,
                               1,
                               {{"chief",
                                 0,
                                 "trap 'echo told > $OUT/told; exit 0' TERM; echo > $OUT/on; while "
                                 ":; do sleep 0.05; done"}});
  AwaitBegun(*launcher);
  EXPECT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kStopped);
  EXPECT_EQ(Slurp(Out("told")), "told\n");
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, KillsWhatDoesNotListen) {
  grace_ = absl::Milliseconds(200);
  const auto launcher = NewContainers();
  const GangProgram gang =
      Run(*launcher, 1, {{"chief", 0, std::string("trap '' TERM; ") + kForEver}});
  AwaitBegun(*launcher);
  const int process = ProcessOf(gang);
  EXPECT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kStopped);
  EXPECT_FALSE(IsAlive(process));
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, RestartsAReplicaUnderTheSameName) {
  const auto launcher = NewContainers();
  const GangProgram gang = Run(
      *launcher, 1, {{"chief", 0, "[ -e $OUT/again ] && exit 0; : > $OUT/again; kill -KILL $$"}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kSucceeded) << status.message;
  EXPECT_EQ(status.replicas.front().restarts, 1);
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, RemovesTheContainerOfAClientThatWasKilled) {
  restarts_.replica = 0;
  const auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher, 1, {{"chief", 0, kForEver}});
  AwaitBegun(*launcher);
  const int process = ProcessOf(gang);
  const auto running = nlohmann::json::parse(Slurp(Folder(gang, 0) + "/running.json"));
  ASSERT_EQ(kill(running.at("process").get<int>(), SIGKILL), 0);
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.failure, FailureClass::kPreempted);
  EXPECT_FALSE(IsAlive(process));
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, RemovesTheContainerOfASupervisorThatWasKilled) {
  const auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher, 1, {{"chief", 0, kForEver}});
  AwaitBegun(*launcher);
  const int process = ProcessOf(gang);
  const int supervisor = std::atoi(Slurp(Folder(gang, 0) + "/supervisor.lock").c_str());
  ASSERT_EQ(kill(supervisor, SIGKILL), 0);
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kLost);
  EXPECT_TRUE(Eventually([&] { return !IsAlive(process) && CountContainers() == 0; }));
}

TEST_F(ContainerLauncherTest, IsAdoptedByTheNextProcess) {
  auto launcher = NewContainers();
  const GangProgram gang = Run(*launcher, 1, {{"chief", 0, kForEver}});
  AwaitBegun(*launcher);
  launcher = NewContainers();
  ASSERT_OK_AND_ASSIGN(const GangStatus adopted,
                       launcher->Adopt(Request(1, {{"chief", 0, ""}}), gang.placed));
  EXPECT_EQ(adopted.state, AttemptState::kRunning);
  EXPECT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kStopped);
  EXPECT_EQ(CountContainers(), 0u);
}

TEST_F(ContainerLauncherTest, ReplacesWhatAnEarlierLifeLeftUnderTheName) {
  const auto launcher = NewContainers();
  const auto placed = launcher->Place(Request(1, {{"chief", 0, ""}}));
  ASSERT_THAT(placed, IsOk());
  const GangProgram gang = Containers(1, {{"chief", 0, "true"}}, *placed);
  fs::create_directories(Out("bin/engine/containers/" + ContainerName(Folder(gang, 0))));
  EXPECT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
}

TEST_F(ContainerLauncherTest, LocalGangsAreNoneOfItsBusiness) {
  const auto launcher = NewContainers();
  Launch(*launcher, 1, {{"chief", 0, "true"}});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  EXPECT_EQ(Calls(), "");
}

TEST_F(ContainerLauncherTest, AProcessLauncherWithoutAnEngineRefusesImages) {
  const auto launcher = NewLauncher();
  const auto placed = launcher->Place(Request(1, {{"chief", 0, ""}}));
  ASSERT_THAT(placed, IsOk());
  EXPECT_THAT(launcher->Start(Containers(1, {{"chief", 0, "true"}}, *placed)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ContainerLauncherTest, AHostTakesTheFirstEngineOrTheOneThatIsNamed) {
  InstallEngine("docker");
  ASSERT_OK_AND_ASSIGN(const ContainerEngine first, ContainerHost({}).Engine());
  EXPECT_EQ(
      DescribeEngine(first),
      fmt::format("podman 9.9 ({}), which holds containers to memory and CPUs", Out("bin/podman")));
  ASSERT_OK_AND_ASSIGN(const ContainerEngine named,
                       ContainerHost({.kind = EngineKind::kDocker}).Engine());
  EXPECT_EQ(named.program, Out("bin/docker"));
  EXPECT_EQ(named.user, fmt::format("{}:{}", geteuid(), getegid()));
  EXPECT_TRUE(named.has_init);
}

TEST_F(ContainerLauncherTest, AHostNamesWhatIsMissing) {
  const std::string wanted =
      "container images need podman, docker or apptainer on the server's PATH";
  setenv("PATH", Out("").c_str(), 1);
  EXPECT_THAT(ContainerHost({}).Engine(),
              StatusIs(absl::StatusCode::kNotFound, StartsWith(wanted)));
  EXPECT_THAT(ContainerHost({.kind = EngineKind::kApptainer}).Engine(),
              StatusIs(absl::StatusCode::kNotFound,
                       "container images need apptainer, which is not on the server's PATH"));
  EXPECT_THAT(ContainerHost({.is_enabled = false}).Engine(),
              StatusIs(absl::StatusCode::kNotFound,
                       "this server runs no container images; its configuration says "
                       "containers.engine: none"));
}

TEST_F(ContainerLauncherTest, AHostAsksAgainAnEngineThatDidNotAnswer) {
  ContainerHost host({});
  Touch("down");
  EXPECT_THAT(host.Engine(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Cannot connect to the daemon")));
  fs::remove(Out("bin/engine/down"));
  EXPECT_THAT(host.Engine(), IsOk());
}

GangRequest WithImages(GangRequest request, std::vector<std::string> images) {
  request.needs.images = std::move(images);
  return request;
}

TEST_F(ContainerLauncherTest, FetchesBeforeAGangIsPlaced) {
  std::ofstream(Out("bin/engine/remote")) << "org/other:2\n";
  const auto launcher = NewContainers();
  const GangRequest first = WithImages(Request(1, {{"chief", 0, ""}}), {"org/other:2"});
  const GangRequest second = WithImages(Request(2, {{"chief", 0, ""}}), {"org/other:2"});
  EXPECT_THAT(launcher->Prepare(first),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("fetching its container images")));
  EXPECT_THAT(launcher->Prepare(second), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(launcher->Queue().size(), 2u);
  ASSERT_TRUE(Eventually([&] { return launcher->Prepare(first).ok(); }));
  EXPECT_THAT(launcher->Prepare(second), IsOk());
  EXPECT_TRUE(launcher->Queue().empty());
  const std::string calls = Calls();
  const std::size_t pull = calls.find("pull org/other:2\n");
  ASSERT_NE(pull, std::string::npos);
  EXPECT_EQ(calls.find("pull org/other:2\n", pull + 1), std::string::npos);
}

TEST_F(ContainerLauncherTest, RefusesAGangWhoseImageIsNowhere) {
  const auto launcher = NewContainers();
  const GangRequest request = WithImages(Request(1, {{"chief", 0, ""}}), {"nowhere"});
  absl::Status status;
  ASSERT_TRUE(Eventually([&] {
    status = launcher->Prepare(request);
    return !absl::IsUnavailable(status);
  }));
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the images nowhere could not be fetched: ")));
  // Once it is somewhere, it is asked for anew.
  std::ofstream(Out("bin/engine/remote")) << "nowhere\n";
  EXPECT_TRUE(Eventually([&] { return launcher->Prepare(request).ok(); }));
}

}  // namespace
}  // namespace vernier::launch
