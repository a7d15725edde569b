#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"

// Gangs whose folders are removed or replaced while they run, and gangs whose supervisors are suspended.
namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using testing::CountLines;
using testing::Eventually;
using ::testing::HasSubstr;
using testing::IsAlive;
using testing::LocalGangTest;
using testing::Script;
using testing::Slurp;
using vernier::testing::IsOk;

// Does not end when it is told to. Its process id is in $OUT/pid.
const char kStubborn[] =
    "trap '' TERM; cd /; sleep 1000 & echo $$ > $OUT/pid; while :; do wait; done";

class LostRecordsTest : public LocalGangTest {
 protected:
  LostRecordsTest() { grace_ = absl::Milliseconds(100); }

  // A gang whose chief is stubborn, once it runs.
  GangProgram LaunchStubborn(Launcher& launcher) {
    const GangProgram gang = Launch(launcher, 1, scripts_);
    AwaitRunning(launcher, 1);
    EXPECT_TRUE(Eventually([&] { return CountLines(Slurp(Out("pid"))) == 1; }));
    return gang;
  }

  void ExpectLost(Launcher& launcher) {
    const GangStatus status = Await(launcher, 1);
    EXPECT_EQ(status.state, AttemptState::kLost);
    EXPECT_EQ(status.failure, FailureClass::kNodeLost);
    EXPECT_TRUE(status.transient);
    EXPECT_THAT(status.message, HasSubstr("The replica chief 0 was lost: "));
    EXPECT_FALSE(IsAlive(std::stoi(Slurp(Out("pid")))));
    EXPECT_THAT(launcher.Release(Attempt(1)), IsOk());
    EXPECT_EQ(launcher.Nodes().front().free_cpus, launcher.Nodes().front().cpus);
  }

  // Also where a supervisor is just writing there.
  static void Remove(const std::string& folder) {
    EXPECT_TRUE(Eventually([&] {
      std::error_code error;
      fs::remove_all(folder, error);
      return !fs::exists(folder);
    }));
  }

  static std::string RunsOf(const GangProgram& gang) {
    return fs::path(gang.placed.directory).parent_path().parent_path().parent_path();
  }

  const std::vector<Script> scripts_ = {{"chief", 0, kStubborn}, {"worker", 0, "exec sleep 1000"}};
};

TEST_F(LostRecordsTest, AGangWhoseFolderIsRemovedIsLostAndItsProgramsEnd) {
  const auto launcher = NewLauncher();
  Remove(LaunchStubborn(*launcher).placed.directory);
  ExpectLost(*launcher);
}

TEST_F(LostRecordsTest, AGangWhoseRunsAreMovedAwayIsLost) {
  const auto launcher = NewLauncher();
  const std::string runs = RunsOf(LaunchStubborn(*launcher));
  fs::rename(runs, runs + ".old");
  ExpectLost(*launcher);
}

TEST_F(LostRecordsTest, AGangWhoseRunsAreReplacedByACopyIsLostAndIsNotRestarted) {
  const auto launcher = NewLauncher();
  const std::string runs = RunsOf(LaunchStubborn(*launcher));
  // Again where a file that was just being written is gone before it is copied.
  ASSERT_TRUE(Eventually([&] {
    std::error_code error;
    fs::copy(runs,
             runs + ".copy",
             fs::copy_options::recursive | fs::copy_options::overwrite_existing,
             error);
    return !error;
  }));
  fs::rename(runs, runs + ".old");
  fs::rename(runs + ".copy", runs);
  ExpectLost(*launcher);
  EXPECT_EQ(CountLines(Slurp(Out("pid"))), 1);
}

TEST_F(LostRecordsTest, AFolderThatIsRemovedBeforeTheFirstLookIsMissed) {
  const auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, scripts_);
  ASSERT_TRUE(Eventually([&] { return CountLines(Slurp(Out("pid"))) == 1; }));
  Remove(gang.placed.directory);
  ExpectLost(*launcher);
}

TEST_F(LostRecordsTest, TheNextLauncherEndsWhatRunsWithoutItsFolder) {
  auto launcher = NewLauncher();
  const GangProgram gang = LaunchStubborn(*launcher);
  launcher.reset();
  Remove(gang.placed.directory);
  launcher = NewLauncher();
  EXPECT_THAT(launcher->Adopt(Request(1, scripts_), gang.placed), IsOk());
  ExpectLost(*launcher);
}

// As where a folder is removed just while the supervisor writes there.
TEST_F(LostRecordsTest, AnEndThatIsLeftOfRemovedRecordsIsNoResult) {
  const auto launcher = NewLauncher();
  const GangProgram gang =
      Launch(*launcher, 1, {{"chief", 0, "until [ -e $OUT/go ]; do sleep 0.01; done"}});
  AwaitRunning(*launcher, 1);
  for (const char* file : {"/started", "/output.log"}) fs::remove(Folder(gang, 0) + file);
  std::ofstream(Out("go")) << "now";
  ASSERT_TRUE(Eventually([&] { return fs::exists(Folder(gang, 0) + "/exit.json"); }));
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kLost);
  EXPECT_TRUE(status.transient);
}

TEST_F(LostRecordsTest, AGangInThePlaceOfWhoseFolderIsALoopOfLinksIsLost) {
  const auto launcher = NewLauncher();
  const std::string folder = LaunchStubborn(*launcher).placed.directory;
  Remove(folder);
  fs::create_symlink(folder, folder);
  ExpectLost(*launcher);
}

TEST_F(LostRecordsTest, AGangWhoseFolderIsClosedIsLost) {
  if (geteuid() == 0) GTEST_SKIP() << "nothing is closed to root";
  const auto launcher = NewLauncher();
  const std::string folder = LaunchStubborn(*launcher).placed.directory + "/chief-0";
  fs::permissions(folder, fs::perms::none);
  ExpectLost(*launcher);
  fs::permissions(folder, fs::perms::owner_all);
}

TEST_F(LostRecordsTest, FoldersInThePlaceOfItsRecordsChangeNothing) {
  const auto launcher = NewLauncher();
  const std::string plant =
      "until [ -e running.json ]; do sleep 0.01; done; "
      "for f in exit.json exit.json.new ../verdict.json ../verdict.json.new; do "
      "rm -f $f; mkdir -p $f/kept; done; exit ";
  Launch(*launcher, 1, {{"chief", 0, "cd $VERNIER_REPLICA_DIRECTORY; " + plant + "0"}});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  Launch(*launcher, 2, {{"chief", 0, "cd $VERNIER_REPLICA_DIRECTORY; " + plant + "3"}});
  const GangStatus status = Await(*launcher, 2);
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_EQ(status.failure, FailureClass::kUserError);
}

TEST_F(LostRecordsTest, AMissingRecordOfTheStartDoesNotSuspendTheTimeLimit) {
  time_limit_ = absl::Seconds(1);
  const auto launcher = NewLauncher();
  const GangProgram gang = LaunchStubborn(*launcher);
  fs::remove(Folder(gang, 0) + "/running.json");
  EXPECT_EQ(Await(*launcher, 1).failure, FailureClass::kTimeout);
}

TEST_F(LostRecordsTest, ASuspendedSupervisorDoesNotSuspendTheTimeLimit) {
  time_limit_ = absl::Seconds(1);
  const auto launcher = NewLauncher();
  const GangProgram gang = LaunchStubborn(*launcher);
  const int supervisor = std::stoi(Slurp(Folder(gang, 0) + "/supervisor.lock"));
  ASSERT_EQ(kill(supervisor, SIGSTOP), 0);
  const absl::Time begun = clock_->Now();
  const GangStatus status = Await(*launcher, 1);
  EXPECT_LT(clock_->Now() - begun, absl::Seconds(10));
  EXPECT_EQ(status.failure, FailureClass::kTimeout);
  EXPECT_EQ(status.replicas[0].signal, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return !IsAlive(supervisor); }));
}

TEST_F(LostRecordsTest, SuspendedProgramsAndSupervisorsEndWhenTheyAreStopped) {
  const auto launcher = NewLauncher();
  const GangProgram gang = LaunchStubborn(*launcher);
  const int program = std::stoi(Slurp(Out("pid")));
  ASSERT_EQ(kill(-program, SIGSTOP), 0);
  ASSERT_EQ(kill(std::stoi(Slurp(Folder(gang, 0) + "/supervisor.lock")), SIGSTOP), 0);
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kStopped);
  EXPECT_FALSE(IsAlive(program));
}

}  // namespace
}  // namespace vernier::launch
