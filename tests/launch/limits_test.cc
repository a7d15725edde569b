#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/launch/gang/replica_records.h"
#include "src/launch/local/control_group_host.h"
#include "src/launch/replica_files.h"
#include "tests/launch/local_gang.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"

// Replicas that want more than their share, on a host that holds them to it.
namespace vernier::launch {
namespace {

using testing::Eventually;
using ::testing::HasSubstr;
using testing::LocalGangTest;
using testing::Script;
using testing::Slurp;
using vernier::testing::IsOk;
using ::vernier::testing::kMiB;
using vernier::testing::StatusIs;

// Takes 300 MiB, far more than the share; far less than what would hurt a host that does not hold it to that.
const char kHog[] = "python3 -c 'x = b\"x\" * (300 << 20)'";

nlohmann::json ExitRecord(const std::string& folder) {
  return nlohmann::json::parse(Slurp(folder + "/exit.json"));
}

class LimitsTest : public LocalGangTest {
 protected:
  LimitsTest() : host_(PrepareControlGroups({})) { control_group_ = ""; }

  // A gang of one replica, with so much of the host.
  GangProgram LaunchOne(Launcher& launcher, const std::string& text, const Resources& resources) {
    return Launch(launcher, 1, {{"chief", 0, text, resources}});
  }
  // Whether a control group of the gang's replica is there.
  bool HasGroup(const GangProgram& gang) const {
    return std::ranges::any_of(
        ControlGroupsOf(host_, Folder(gang, 0)),
        [](const std::string& group) { return access(group.c_str(), F_OK) == 0; });
  }

  // What the replica is held to.
  static Share ShareOf(const GangProgram& gang, std::size_t i) {
    return DecodeProgram(Slurp(Folder(gang, i) + "/" + kProgramFile))->share;
  }

  const ControlGroupHost host_;
};

TEST_F(LimitsTest, WhatAReplicaUsedIsRecordedWithoutAGroupToo) {
  control_group_ = "none";
  const auto launcher = NewLauncher();
  const GangProgram gang = LaunchOne(
      *launcher, "python3 -c 'sum(range(3000000)); x = b\"x\" * (50 << 20)'", {.cpus = 1});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  const nlohmann::json record = ExitRecord(Folder(gang, 0));
  EXPECT_GT(record["cpu_seconds"].get<double>(), 0.01);
  EXPECT_LT(record["cpu_seconds"].get<double>(), 20);
  EXPECT_GT(record["peak_memory_bytes"].get<std::int64_t>(), 50 * kMiB);
  EXPECT_LT(record["peak_memory_bytes"].get<std::int64_t>(), 500 * kMiB);
}

TEST_F(LimitsTest, AReplicaThatWantsMoreMemoryIsKilledAndSaysSo) {
  if (!host_.limits_memory) GTEST_SKIP() << "no memory can be limited here: " << host_.obstacle;
  const auto launcher = NewLauncher();
  const GangProgram gang =
      LaunchOne(*launcher, std::string("exec ") + kHog, {.cpus = 0.5, .memory_bytes = 100 * kMiB});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(FailureClassName(status.failure), "OUT_OF_MEMORY") << status.message;
  EXPECT_EQ(status.message,
            "The replica chief 0 ran out-of-memory and exited with a non-zero status of "
            "9(SIGKILL).");
  const nlohmann::json record = ExitRecord(Folder(gang, 0));
  EXPECT_LE(record["peak_memory_bytes"].get<std::int64_t>(), 100 * kMiB);
  EXPECT_FALSE(HasGroup(gang));
}

TEST_F(LimitsTest, AProgramWhoseChildIsKilledForMemoryRanOutOfMemory) {
  if (!host_.limits_memory) GTEST_SKIP() << "no memory can be limited here: " << host_.obstacle;
  const auto launcher = NewLauncher();
  LaunchOne(*launcher, std::string(kHog) + " || exit 1", {.cpus = 0.5, .memory_bytes = 100 * kMiB});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(FailureClassName(status.failure), "OUT_OF_MEMORY") << status.message;
}

TEST_F(LimitsTest, WithoutAskingForMemoryThereIsNoLimit) {
  const auto launcher = NewLauncher();
  LaunchOne(*launcher, kHog, {.cpus = 0.5});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
}

TEST_F(LimitsTest, AReplicaGetsNoMoreCpusThanItAskedFor) {
  if (!host_.limits_cpus) GTEST_SKIP() << "no CPUs can be limited here: " << host_.obstacle;
  const auto launcher = NewLauncher();
  const GangProgram gang =
      LaunchOne(*launcher, "timeout 2 sh -c 'while :; do :; done'; exit 0", {.cpus = 0.1});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  // 2 seconds at a tenth of a CPU, and a little for starting; without a limit it would be 2.
  EXPECT_LT(ExitRecord(Folder(gang, 0))["cpu_seconds"].get<double>(), 0.6);
}

TEST_F(LimitsTest, TheGroupOutlivesTheLauncherAndGoesWithTheReplica) {
  if (host_.parents.empty()) GTEST_SKIP() << "there are no control groups here: " << host_.obstacle;
  const std::vector<Script> scripts = {
      {"chief", 0, "until [ -e $OUT/go ]; do sleep 0.01; done", {.cpus = 1}}};
  auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, scripts);
  AwaitRunning(*launcher, 1);
  EXPECT_TRUE(HasGroup(gang));
  launcher = NewLauncher();
  ASSERT_THAT(launcher->Adopt(Request(1, scripts), gang.placed), IsOk());
  EXPECT_TRUE(HasGroup(gang));
  std::ofstream(Out("go")) << "";
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  EXPECT_FALSE(HasGroup(gang));
}

TEST_F(LimitsTest, TheGroupOfAKilledSupervisorIsEmptiedAndRemoved) {
  if (host_.parents.empty()) GTEST_SKIP() << "there are no control groups here: " << host_.obstacle;
  const auto launcher = NewLauncher();
  // What it leaves has neither its process group nor its environment.
  const GangProgram gang =
      LaunchOne(*launcher, "env -i setsid sleep 1000 & echo $! > $OUT/pid; wait", {.cpus = 1});
  ASSERT_TRUE(Eventually([&] { return testing::CountLines(Slurp(Out("pid"))) == 1; }));
  AwaitRunning(*launcher, 1);
  const int left = std::stoi(Slurp(Out("pid")));
  kill(std::stoi(Slurp(Folder(gang, 0) + "/supervisor.lock")), SIGKILL);
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kLost);
  EXPECT_TRUE(Eventually([&] { return !testing::IsAlive(left); }));
  ASSERT_THAT(launcher->Release(Attempt(1)), IsOk());
  EXPECT_FALSE(HasGroup(gang));
}

TEST_F(LimitsTest, WhatIsScaledToTheHostIsHeldToThat) {
  const std::vector<Script> scripts = {
      {"chief", 0, "exit 0", {.cpus = 6, .memory_bytes = 400 * kMiB}},
      {"worker", 0, "exit 0", {.cpus = 2, .memory_bytes = 1200 * kMiB}}};
  const ProcessLauncherOptions options{
      .cpus = 2, .memory_bytes = 800 * kMiB, .fitting = Fitting::kScaled};
  auto launcher = NewLauncher(options);
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  launcher = NewLauncher(options);  // Dies before anything is started.
  EXPECT_THAT(launcher->Adopt(Request(1, scripts), placed),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nothing")));
  const GangProgram gang = Program(1, scripts, placed);
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(ShareOf(gang, 0), (Share{.cpu_millis = 1500, .memory_bytes = 200 * kMiB}));
  EXPECT_EQ(ShareOf(gang, 1), (Share{.cpu_millis = 500, .memory_bytes = 600 * kMiB}));
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
}

TEST_F(LimitsTest, EveryRunHasAGroupAndARecordOfItsOwn) {
  const auto launcher = NewLauncher();
  restarts_.replica = 1;
  const GangProgram gang = LaunchOne(*launcher,
                                     "if [ -e $OUT/again ]; then exit 0; fi; touch $OUT/again; "
                                     "python3 -c 'sum(range(10000000))'; kill -9 $$",
                                     {.cpus = 1});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  const auto first = nlohmann::json::parse(Slurp(Folder(gang, 0) + "/exit-1.json"));
  EXPECT_GT(first["cpu_seconds"].get<double>(), 0.05);
  EXPECT_LT(ExitRecord(Folder(gang, 0))["cpu_seconds"].get<double>(),
            first["cpu_seconds"].get<double>() / 2);
  EXPECT_FALSE(HasGroup(gang));
}

TEST_F(LimitsTest, AProgramThatRanOutOfMemoryIsNotRunAgain) {
  if (!host_.limits_memory) GTEST_SKIP() << "no memory can be limited here: " << host_.obstacle;
  const auto launcher = NewLauncher();
  restarts_ = {.reading = FailureReading::kLenient, .replica = 3};
  const GangProgram gang = LaunchOne(
      *launcher, std::string(kHog) + " || exit 1", {.cpus = 0.5, .memory_bytes = 100 * kMiB});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(FailureClassName(status.failure), "OUT_OF_MEMORY") << status.message;
  EXPECT_FALSE(status.transient);
  EXPECT_EQ(Slurp(Folder(gang, 0) + "/exit-1.json"), "");
}

TEST_F(LimitsTest, AGroupThatCannotBeMadeIsSaidAndTheProgramRuns) {
  const std::string folder = Out("chief-0");
  std::filesystem::create_directories(folder);
  const SupervisedProgram program{.argv = {"echo", "it runs"},
                                  .directory = "/",
                                  .output_bytes = output_bytes_,
                                  .share = {.cpu_millis = 100},
                                  .control_groups = {"/proc/vernier-no-such"}};
  ASSERT_TRUE(ReplaceFile(folder + "/" + kProgramFile, EncodeProgram(program), false));
  ASSERT_THAT(SpawnSupervisor(VERNIER_SUPERVISOR, folder, OwnEnvironment({"*"})), IsOk());
  ASSERT_TRUE(Eventually([&] { return IsDown(Observe(folder)); }));
  EXPECT_EQ(Observe(folder).exit.exit_code, 0);
  const std::string output = Slurp(folder + "/output.log");
  EXPECT_THAT(output, HasSubstr(" O it runs\n"));
  EXPECT_THAT(output,
              HasSubstr(" E [vernier] limits are not enforced: cannot make control group "
                        "'/proc/vernier-no-such'"));
}

}  // namespace
}  // namespace vernier::launch
