// Gangs of small programs on a real Slurm cluster of this host. One cluster serves all tests of the process.
#include "src/launch/slurm/slurm_launcher.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/jobs/layout.h"
#include "src/launch/replica_files.h"
#include "src/launch/slurm/commands.h"
#include "tests/slurm/test_cluster.h"
#include "tests/support/eventually.h"
#include "tests/support/slurp.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch::slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::vernier::testing::Eventually;
using ::vernier::testing::FakeApptainer;
using ::vernier::testing::IsOk;
using ::vernier::testing::kPatience;
using ::vernier::testing::Slurp;
using ::vernier::testing::StatusIs;
using ::vernier::testing::test_cluster;

// A replica whose program is a shell script. $OUT is a folder that the gang shares.
struct Script {
  std::string role;
  std::int32_t index = 0;
  std::string text;
  Resources resources = {.cpus = 1};
};

class SlurmLauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    out_ = test_cluster->shared() + "/out-" + name;
    fs::create_directories(out_);
    launcher_ = NewLauncher();
  }

  std::unique_ptr<Launcher> NewLauncher(std::shared_ptr<ContainerHost> containers = nullptr) const {
    SlurmLauncherOptions options;
    options.containers = std::move(containers);
    options.shared = test_cluster->shared();
    options.supervisor = VERNIER_SUPERVISOR;
    options.gpu_types = {{"V100", "v100"}};
    options.lag = absl::Seconds(1);
    options.poll_interval = absl::Milliseconds(100);
    options.failed_replica_patience = absl::Seconds(1);
    auto launcher = NewSlurmLauncher(std::move(options), NewSlurmCommands({}), *clock_);
    EXPECT_THAT(launcher, IsOk());
    return *std::move(launcher);
  }

  // Trials of different tests are different ones.
  static AttemptId Attempt(std::int64_t trial = 1) {
    static std::map<std::string, std::int64_t> studies;
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const auto [at, is_new] = studies.try_emplace(name, std::ssize(studies) + 1);
    return {{StudyId(at->second), TrialNumber(trial)}, AttemptNumber(1)};
  }

  GangRequest Request(const std::vector<Script>& scripts, std::int64_t trial = 1) const {
    GangRequest request{.id = Attempt(trial), .study = "slurm", .replicas = {}, .needs = {}};
    request.study = fs::path(out_).filename().string();
    for (const Script& script : scripts) {
      request.replicas.push_back(
          {.role = script.role, .index = script.index, .resources = script.resources});
    }
    return request;
  }

  GangProgram Program(const std::vector<Script>& scripts,
                      PlacedGang placed,
                      std::int64_t trial = 1) {
    GangProgram gang{.id = Attempt(trial), .placed = std::move(placed), .replicas = {}};
    gang.grace = absl::Seconds(2);
    gang.restarts = {.reading = FailureReading::kStrict, .replica = 0};
    std::string addresses;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      const ReplicaPlacement at = jobs::StandIn(gang.placed.placement[i], i);
      addresses += fmt::format("{}:{} ", at.host, at.port);
    }
    for (const Script& script : scripts) {
      const std::string folder =
          jobs::ReplicaDirectory(gang.placed.directory, script.role, script.index);
      gang.replicas.push_back({.role = script.role,
                               .index = script.index,
                               .argv = {"sh", "-c", script.text},
                               .container = std::nullopt,
                               .env = {{"OUT", out_}, {"ADDRESSES", addresses}},
                               .directory = out_,
                               .folders = {},
                               .code = std::nullopt,
                               .log_file = folder + "/output.log"});
    }
    return gang;
  }

  void Launch(const std::vector<Script>& scripts, std::int64_t trial = 1) {
    const auto placed = launcher_->Place(Request(scripts, trial));
    ASSERT_THAT(placed, IsOk());
    ASSERT_THAT(launcher_->Start(Program(scripts, *placed, trial)), IsOk());
    directory_ = placed->directory;
  }

  GangStatus Await(std::int64_t trial = 1) {
    const absl::Time deadline = clock_->Now() + kPatience;
    while (clock_->Now() < deadline) {
      const auto status = launcher_->Check(Attempt(trial));
      EXPECT_THAT(status, IsOk());
      if (!status.ok() || IsEnded(status->state)) return status.value_or(GangStatus());
      usleep(20'000);
    }
    ADD_FAILURE() << "the gang does not end; its job said:\n" << Slurp(directory_ + "/slurm.log");
    return {};
  }

  const std::unique_ptr<Clock> clock_ = NewRealClock();
  std::string out_;
  std::string directory_;
  std::unique_ptr<Launcher> launcher_;
};

TEST_F(SlurmLauncherTest, RunsAGangThatKnowsItsAddresses) {
  // The chief ends last: its end is the gang's end.
  Launch({{"chief",
           0,
           "echo $ADDRESSES > $OUT/chief; while ! [ -s $OUT/worker0 ] || ! [ -s $OUT/worker1 ]; do "
           "sleep 0.1; done; "
           "sleep 0.5"},
          {"worker", 0, "echo $ADDRESSES > $OUT/worker0"},
          {"worker", 1, "echo $ADDRESSES > $OUT/worker1"}});
  const GangStatus status = Await();
  EXPECT_EQ(status.state, AttemptState::kSucceeded) << status.message;
  const std::string seen = Slurp(out_ + "/chief");
  EXPECT_EQ(seen, Slurp(out_ + "/worker0"));
  EXPECT_EQ(seen, Slurp(out_ + "/worker1"));
  EXPECT_THAT(seen, ::testing::MatchesRegex("(127[.]0[.]0[.]1:[0-9]+ ?){3}\n"));
  ASSERT_EQ(status.replicas.size(), 3U);
  for (const ReplicaResult& replica : status.replicas) EXPECT_EQ(replica.exit_code, 0);
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
}

TEST_F(SlurmLauncherTest, GivesEachReplicaItsDevices) {
  const Resources two = {.cpus = 1, .gpus = 2, .gpu_type = "V100"};
  // The chief's end is the gang's end: it waits until the workers have written theirs.
  Launch({{"chief",
           0,
           "echo $CUDA_VISIBLE_DEVICES > $OUT/chief; "
           "while ! [ -s $OUT/worker0 ] || ! [ -s $OUT/worker1 ]; do sleep 0.1; done"},
          {"worker", 0, "echo $CUDA_VISIBLE_DEVICES > $OUT/worker0", two},
          {"worker", 1, "echo $CUDA_VISIBLE_DEVICES > $OUT/worker1", two}});
  EXPECT_EQ(Await().state, AttemptState::kSucceeded);
  EXPECT_EQ(Slurp(out_ + "/chief"), "\n");
  for (const char* worker : {"/worker0", "/worker1"}) {
    EXPECT_THAT(Slurp(out_ + worker), ::testing::MatchesRegex("[0-3],[0-3]\n"));
  }
}

TEST_F(SlurmLauncherTest, AGangOfOneIsTheBatchScriptItself) {
  const Resources two = {.cpus = 1, .gpus = 2, .gpu_type = "V100"};
  Launch({{"chief",
           0,
           "trap 'echo told > $OUT/told; exit 0' TERM; echo $CUDA_VISIBLE_DEVICES > $OUT/chief; "
           "touch $OUT/up; while :; do sleep 0.1; done",
           two}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(out_ + "/up"); }));
  EXPECT_THAT(Slurp(out_ + "/chief"), ::testing::MatchesRegex("[0-3],[0-3]\n"));
  EXPECT_THAT(Slurp(directory_ + "/job.sh"), ::testing::Not(HasSubstr("srun")));
  EXPECT_THAT(launcher_->Stop(Attempt()), IsOk());
  EXPECT_EQ(Await().state, AttemptState::kStopped);
  EXPECT_EQ(Slurp(out_ + "/told"), "told\n");
}

TEST_F(SlurmLauncherTest, AnImageGetsItsDevicesAndNothingOfTheServersEnvironment) {
  const FakeApptainer apptainer;
  setenv("VERNIER_TEST_SECRET", "hush", 1);
  launcher_ = NewLauncher(std::make_shared<ContainerHost>(
      ContainerHostOptions{.kind = EngineKind::kApptainer, .images_directory = out_ + "/images"}));
  std::ofstream(out_ + "/trainer.sif") << "image";
  const std::vector<Script> scripts = {
      {"chief", 0, "env > $OUT/chief", {.cpus = 1, .gpus = 2, .gpu_type = "V100"}}};
  const auto placed = launcher_->Place(Request(scripts));
  ASSERT_THAT(placed, IsOk());
  GangProgram gang = Program(scripts, *placed);
  gang.replicas[0].container = ReplicaContainer{
      .image = out_ + "/trainer.sif", .replaces_entry_point = true, .mounts = {out_, "/nowhere"}};
  // The socket for reports is not on the nodes, and so not mounted.
  gang.replicas[0].env["VERNIER_ADDRESS"] = "unix:/nowhere/socket";
  gang.replicas[0].env["VERNIER_TOKEN"] = "1-secret";
  ASSERT_THAT(launcher_->Start(gang), IsOk());
  const GangStatus status = Await();
  EXPECT_EQ(status.state, AttemptState::kSucceeded) << status.message;
  const std::string env = Slurp(out_ + "/chief");
  EXPECT_THAT(env, ::testing::ContainsRegex("CUDA_VISIBLE_DEVICES=[0-3],[0-3]\n"));
  EXPECT_THAT(env, ::testing::Not(HasSubstr("hush")));
  EXPECT_THAT(env, ::testing::Not(HasSubstr("1-secret")));
  EXPECT_THAT(Slurp(apptainer.calls()), HasSubstr("exec --cleanenv --no-home --nv --mount "));
}

TEST_F(SlurmLauncherTest, SaysWhyAReplicaFailed) {
  Launch({{"chief", 0, "sleep 30"}, {"worker", 0, "echo no such data >&2; exit 3"}});
  const GangStatus status = Await();
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_EQ(status.failure, FailureClass::kUserError);
  EXPECT_THAT(status.message, HasSubstr("worker 0"));
  EXPECT_THAT(status.message, HasSubstr("no such data"));
}

TEST_F(SlurmLauncherTest, StopsEveryReplica) {
  const auto script = [](const std::string& name) {
    return fmt::format(
        "trap 'touch $OUT/{0}-stopped; exit 0' TERM; touch $OUT/{0}-up; sleep 60 & wait", name);
  };
  Launch({{"chief", 0, script("c")}, {"worker", 0, script("w0")}, {"worker", 1, script("w1")}});
  const auto all = [&](const std::string& suffix) {
    return fs::exists(out_ + "/c" + suffix) && fs::exists(out_ + "/w0" + suffix) &&
           fs::exists(out_ + "/w1" + suffix);
  };
  ASSERT_TRUE(Eventually([&] { return all("-up"); }));
  const absl::Time told = clock_->Now();
  ASSERT_THAT(launcher_->Stop(Attempt()), IsOk());
  EXPECT_EQ(Await().state, AttemptState::kStopped);
  EXPECT_LT(clock_->Now() - told, absl::Seconds(10));
  EXPECT_TRUE(all("-stopped"));
}

// A second SIGTERM would end what a program starts to save its state.
TEST_F(SlurmLauncherTest, AProgramHearsOfAStopOnce) {
  const auto script = [](const std::string& name) {
    return fmt::format(
        "trap 'echo told >> $OUT/{0}' TERM; touch $OUT/{0}-up; "
        "while ! [ -s $OUT/{0} ]; do sleep 0.05; done; sleep 1",
        name);
  };
  Launch({{"chief", 0, script("c")}, {"worker", 0, script("w0")}});
  ASSERT_TRUE(
      Eventually([&] { return fs::exists(out_ + "/c-up") && fs::exists(out_ + "/w0-up"); }));
  ASSERT_THAT(launcher_->Stop(Attempt()), IsOk());
  EXPECT_EQ(Await().state, AttemptState::kStopped);
  EXPECT_EQ(Slurp(out_ + "/c"), "told\n");
  EXPECT_EQ(Slurp(out_ + "/w0"), "told\n");
}

TEST_F(SlurmLauncherTest, AGangThatWaitsSaysWhyAndCanBeStopped) {
  const Resources all = {.cpus = 8};
  const std::vector<Script> big = {{"chief", 0, "touch $OUT/up; sleep 60", all},
                                   {"worker", 0, "sleep 60", all},
                                   {"worker", 1, "sleep 60", all},
                                   {"worker", 2, "sleep 60", all}};
  Launch(big, 1);
  ASSERT_TRUE(Eventually([&] { return fs::exists(out_ + "/up"); }));
  Launch({{"chief", 0, "touch $OUT/second"}}, 2);
  ASSERT_TRUE(Eventually([&] {
    EXPECT_EQ(launcher_->Check(Attempt(2))->state, AttemptState::kStarting);
    const std::vector<QueuedGang> queue = launcher_->Queue();
    return queue.size() == 1 && queue[0].reason.find("waits for room") != std::string::npos;
  })) << launcher_->Queue().size();
  ASSERT_THAT(launcher_->Stop(Attempt(2)), IsOk());
  EXPECT_EQ(Await(2).state, AttemptState::kStopped);
  ASSERT_THAT(launcher_->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Await(1).state, AttemptState::kStopped);
  EXPECT_FALSE(fs::exists(out_ + "/second"));
  EXPECT_TRUE(launcher_->Queue().empty());
}

TEST_F(SlurmLauncherTest, ANewProcessTakesAGangBack) {
  const std::vector<Script> scripts = {
      {"chief",
       0,
       "touch $OUT/up; while ! [ -e $OUT/go ]; do sleep 0.1; done; echo once >> $OUT/ran"},
      {"worker", 0, "while ! [ -e $OUT/go ]; do sleep 0.1; done"}};
  Launch(scripts);
  ASSERT_TRUE(Eventually([&] { return fs::exists(out_ + "/up"); }));
  PlacedGang placed{.placement = {}, .directory = directory_};
  for (const Script& script : scripts) {
    placed.placement.push_back({.role = script.role, .index = script.index});
  }
  launcher_ = NewLauncher();
  const auto adopted = launcher_->Adopt(Request(scripts), placed);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->state, AttemptState::kRunning);
  // Again started: nothing comes of it.
  ASSERT_THAT(launcher_->Start(Program(scripts, placed)), IsOk());
  std::ofstream(out_ + "/go") << "";
  EXPECT_EQ(Await().state, AttemptState::kSucceeded);
  EXPECT_EQ(Slurp(out_ + "/ran"), "once\n");
}

TEST_F(SlurmLauncherTest, WhatWasOnlyPlacedIsNotFoundWhenItIsAdopted) {
  const std::vector<Script> scripts = {{"chief", 0, "true"}};
  const auto placed = launcher_->Place(Request(scripts));
  ASSERT_THAT(placed, IsOk());
  EXPECT_EQ(launcher_->Check(Attempt())->state, AttemptState::kPlaced);
  launcher_ = NewLauncher();
  EXPECT_THAT(launcher_->Adopt(Request(scripts), *placed).status(),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(launcher_->Start(Program(scripts, *placed)), IsOk());
  EXPECT_EQ(Await().state, AttemptState::kSucceeded);
}

TEST_F(SlurmLauncherTest, WhatAPowerFailureLostIsWrittenAgainAndNotSubmittedTwice) {
  const std::vector<Script> scripts = {
      {"chief",
       0,
       "touch $OUT/up; while ! [ -e $OUT/go ]; do sleep 0.1; done; echo once >> $OUT/ran"}};
  Launch(scripts);
  ASSERT_TRUE(Eventually([&] { return fs::exists(out_ + "/up"); }));
  launcher_ = nullptr;
  const std::string job = Slurp(directory_ + "/job");
  for (const char* lost : {"/gang.json", "/job", "/job.sh"})
    ASSERT_TRUE(fs::remove(directory_ + lost));
  fs::resize_file(directory_ + "/tasks", 0);
  PlacedGang placed{.placement = {{.role = "chief"}}, .directory = directory_};
  launcher_ = NewLauncher();
  EXPECT_THAT(launcher_->Adopt(Request(scripts), placed).status(),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(launcher_->Start(Program(scripts, placed)), IsOk());
  EXPECT_TRUE(Eventually(
      [&] { return launcher_->Check(Attempt()).ok() && Slurp(directory_ + "/job") == job; }));
  std::ofstream(out_ + "/go") << "";
  EXPECT_EQ(Await().state, AttemptState::kSucceeded);
  EXPECT_EQ(Slurp(out_ + "/ran"), "once\n");
}

TEST_F(SlurmLauncherTest, AReplicaWithoutARecordIsExplainedByItsJob) {
  Launch({{"chief", 0, "touch $OUT/up; sleep 60"}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(out_ + "/up"); }));
  // scancel --signal=KILL sends TERM first, so the supervisor is killed as a node that fails would do it.
  ASSERT_EQ(std::system(("pkill -9 -f -- '--task " + directory_ + "$'").c_str()), 0);
  const GangStatus status = Await();
  EXPECT_TRUE(status.transient);
  EXPECT_THAT(status.message, HasSubstr("its job"));
}

TEST_F(SlurmLauncherTest, AJobThatSomebodyCancelsIsWorthAnotherAttempt) {
  Launch({{"chief", 0, "trap '' TERM; touch $OUT/up; sleep 60"}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(out_ + "/up"); }));
  ASSERT_EQ(std::system(("scancel " + Slurp(directory_ + "/job")).c_str()), 0);
  EXPECT_TRUE(Await().transient);
}

TEST_F(SlurmLauncherTest, RefusesWhatTheClusterNeverRuns) {
  EXPECT_THAT(launcher_->CheckFits(Request({{"chief", 0, ""}})), IsOk());
  const absl::Status never =
      launcher_->CheckFits(Request({{"chief", 0, "", {.gpus = 1, .gpu_type = "A100"}}}));
  EXPECT_THAT(never, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(never.message()), HasSubstr("configuration is not available"));
}

TEST_F(SlurmLauncherTest, TellsOfItsNodes) {
  ASSERT_TRUE(Eventually([&] { return launcher_->Nodes().size() == 4; }));
  const Node node = launcher_->Nodes().front();
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(node.cpus, 8);
  ASSERT_EQ(node.devices.size(), 1U);
  EXPECT_EQ(node.devices[0].type, "v100");
  EXPECT_EQ(node.devices[0].count, 4);
}

}  // namespace
}  // namespace vernier::launch::slurm
