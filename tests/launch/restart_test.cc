#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

// What a launcher finds of gangs that an earlier process of it placed, wherever that one died.
namespace vernier::launch {
namespace {

using testing::CountLines;
using testing::Eventually;
using testing::kForever;
using testing::LocalGangTest;
using testing::Script;
using testing::Slurp;
using vernier::testing::IsOk;
using vernier::testing::StatusIs;

class RestartTest : public LocalGangTest {};

TEST_F(RestartTest, AdoptsWhatRunsAndSeesItToItsEnd) {
  const std::vector<Script> scripts = {{"chief", 0, "until [ -e $OUT/go ]; do sleep 0.01; done"},
                                       {"worker", 0, kForever}};
  auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, scripts);
  AwaitRunning(*launcher, 1);
  launcher = NewLauncher();
  ASSERT_OK_AND_ASSIGN(const GangStatus adopted, launcher->Adopt(Request(1, scripts), gang.placed));
  EXPECT_EQ(adopted.state, AttemptState::kRunning);
  std::ofstream(Out("go")) << "";
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kSucceeded);
  EXPECT_EQ(status.replicas[1].signal, SIGTERM);
}

TEST_F(RestartTest, HarvestsWhatEndedMeanwhile) {
  const std::vector<Script> scripts = {{"chief", 0, "exit 7"}};
  auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, scripts);
  launcher.reset();
  ASSERT_TRUE(Eventually([&] { return !Slurp(Folder(gang, 0) + "/exit.json").empty(); }));
  launcher = NewLauncher();
  ASSERT_OK_AND_ASSIGN(const GangStatus status, launcher->Adopt(Request(1, scripts), gang.placed));
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_EQ(status.failure, FailureClass::kUserError);
  EXPECT_EQ(status.replicas[0].exit_code, 7);
}

TEST_F(RestartTest, TellsWhatWasOnlyPlacedAndKeepsItsRoom) {
  const std::vector<Script> scripts = {{"chief", 0, "touch $OUT/ran", {.cpus = 2}}};
  auto launcher = NewLauncher({.cpus = 2});
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  launcher = NewLauncher({.cpus = 2});
  EXPECT_THAT(launcher->Adopt(Request(1, scripts), placed), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher->Place(Request(2, scripts)),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 2 cpus, 0 free"));
  ASSERT_THAT(launcher->Start(Program(1, scripts, placed)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
}

TEST_F(RestartTest, AdoptsMoreThanThereIsRoomFor) {
  const std::vector<Script> scripts = {{"chief", 0, kForever, {.cpus = 2}}};
  auto launcher = NewLauncher({.cpus = 2});
  const GangProgram gang = Launch(*launcher, 1, scripts);
  AwaitRunning(*launcher, 1);
  launcher = NewLauncher({.cpus = 1});
  ASSERT_THAT(launcher->Adopt(Request(1, scripts), gang.placed), IsOk());
  EXPECT_THAT(launcher->Place(Request(2, {{"chief", 0, kForever, {.cpus = 1}}})),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 1 cpu, 0 free"));
}

TEST_F(RestartTest, GoesOnWithAStopThatWasUnderWay) {
  const std::vector<Script> scripts = {
      {"chief", 0, "trap '' TERM; touch $OUT/up; while :; do sleep 0.01; done"},
      {"worker", 0, kForever}};
  grace_ = absl::Milliseconds(300);
  auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, scripts);
  ASSERT_TRUE(Eventually([&] { return access(Out("up").c_str(), F_OK) == 0; }));
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  launcher = NewLauncher();
  ASSERT_THAT(launcher->Adopt(Request(1, scripts), gang.placed), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kStopped);
  EXPECT_EQ(status.replicas[0].signal, SIGKILL);
}

TEST_F(RestartTest, CarriesOutAVerdictThatWasOnlyWritten) {
  const std::vector<Script> scripts = {{"chief", 0, kForever}};
  auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, scripts);
  AwaitRunning(*launcher, 1);
  std::ofstream(gang.placed.directory + "/verdict.json")
      << R"({"state":"STOPPED","failure":"NONE","message":"","time_us":0})";
  launcher = NewLauncher();
  ASSERT_THAT(launcher->Adopt(Request(1, scripts), gang.placed), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kStopped);
}

TEST_F(RestartTest, CompletesAGangOfWhichAPartWasStarted) {
  const std::vector<Script> scripts = {
      {"chief", 0, "until [ -e $OUT/worker ]; do sleep 0.01; done"},
      {"worker", 0, "echo >> $OUT/worker"}};
  auto launcher = NewLauncher();
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  GangProgram gang = Program(1, scripts, placed);
  // As a launcher leaves it that dies before the second supervisor.
  const GangProgram half{
      .id = gang.id,
      .placed = {.placement = {placed.placement[0]}, .directory = placed.directory},
      .replicas = {gang.replicas[0]},
      .grace = gang.grace};
  launcher = NewLauncher();
  ASSERT_THAT(launcher->Adopt(Request(1, {scripts[0]}), half.placed),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(launcher->Start(half), IsOk());
  launcher = NewLauncher();
  ASSERT_OK_AND_ASSIGN(const GangStatus adopted, launcher->Adopt(Request(1, scripts), placed));
  EXPECT_EQ(adopted.state, AttemptState::kStarting);
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
}

// The engine's way with an attempt that it finds in its store.
void AdoptOrStart(Launcher& launcher, const GangRequest& request, const GangProgram& gang) {
  const auto adopted = launcher.Adopt(request, gang.placed);
  if (absl::IsNotFound(adopted.status()) ||
      (adopted.ok() && adopted->state == AttemptState::kStarting)) {
    ASSERT_THAT(launcher.Start(gang), IsOk());
  } else {
    ASSERT_THAT(adopted, IsOk());
  }
}

TEST_F(RestartTest, StartsEveryReplicaExactlyOnceWhereverTheLauncherIsKilled) {
  const std::string once = "echo >> $OUT/$RUN; ";
  const std::vector<Script> scripts = {
      {"chief",
       0,
       once + "until [ $(ls $OUT | grep -c \"^${RUN%.*}\\.\") = 3 ]; do sleep 0.01; done"},
      {"worker", 0, once + kForever},
      {"worker", 1, once + kForever}};
  Rng rng(20261121);
  for (std::int64_t trial = 1; trial <= 25; ++trial) {
    auto launcher = NewLauncher({.cpus = 100});
    ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(trial, scripts)));
    GangProgram gang = Program(trial, scripts, placed);
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      gang.replicas[i].env["RUN"] = std::to_string(trial) + "." + std::to_string(i);
    }
    const auto delay = static_cast<useconds_t>(rng.UniformInt(15'000));
    const pid_t process = fork();
    if (process == 0) _exit(launcher->Start(gang).ok() ? 0 : 1);
    usleep(delay);
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);

    launcher = NewLauncher({.cpus = 100});
    AdoptOrStart(*launcher, Request(trial, scripts), gang);
    EXPECT_EQ(Await(*launcher, trial).state, AttemptState::kSucceeded) << "trial " << trial;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      EXPECT_EQ(CountLines(Slurp(Out(gang.replicas[i].env["RUN"]))), 1)
          << "replica " << i << " of trial " << trial << ", killed after " << delay << " us";
    }
  }
}

}  // namespace
}  // namespace vernier::launch
