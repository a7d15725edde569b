#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"

// Gangs whose runs are on a disk that fills up while they run.
namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using testing::Eventually;
using ::testing::HasSubstr;
using testing::LocalGangTest;
using testing::Script;
using testing::Slurp;
using vernier::testing::IsOk;
using vernier::testing::StatusIs;

constexpr int kSkipped = 77;
// Waits for $OUT/go.
const char kWait[] = "until [ -e $OUT/go ]; do sleep 0.01; done; ";
const char kPrint[] = "head -c 100000 /dev/zero | tr '\\0' x; ";

void WriteText(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// In a namespace of this process alone, which ordinary users may have, too. False: not on this host.
bool Mount(const std::string& folder) {
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    WriteText("/proc/self/setgroups", "deny");
    WriteText("/proc/self/uid_map", "0 " + user + " 1");
    WriteText("/proc/self/gid_map", "0 " + group + " 1");
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", folder.c_str(), "tmpfs", 0, "size=20m") == 0;
}

class FullDiskTest : public LocalGangTest {
 protected:
  FullDiskTest() : runs_(fs::path(Out("x")).parent_path().parent_path() / "runs") {
    fs::create_directories(runs_);
  }

  // Runs the body in a process for which the runs are a small disk.
  void OnSmallDisk(const std::function<void()>& body) const {
    const pid_t process = fork();
    if (process == 0) {
      if (!Mount(runs_)) _exit(kSkipped);
      body();
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) {
      GTEST_SKIP() << "no file system can be mounted here";
    }
    EXPECT_EQ(status, 0);
  }

  void Fill() const {
    const int file = open((runs_ / "fill").c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string block(4096, 'x');
    while (write(file, block.data(), block.size()) > 0) {
    }
    EXPECT_EQ(errno, ENOSPC);
    close(file);
  }
  void Go() const { WriteText(Out("go"), ""); }

  const fs::path runs_;
};

TEST_F(FullDiskTest, DoesNotLoseHowAReplicaEnded) {
  OnSmallDisk([&] {
    const auto launcher = NewLauncher();
    Launch(*launcher, 1, {{"chief", 0, std::string(kWait) + "exit 0"}});
    AwaitRunning(*launcher, 1);
    Fill();
    Go();
    const GangStatus status = Await(*launcher, 1);
    EXPECT_EQ(status.state, AttemptState::kSucceeded);
    EXPECT_EQ(status.lost_output, "");
  });
}

TEST_F(FullDiskTest, DoesNotSuspendTheTimeLimit) {
  OnSmallDisk([&] {
    time_limit_ = absl::Seconds(1);
    const auto launcher = NewLauncher();
    Launch(*launcher, 1, {{"chief", 0, "exec sleep 1000"}});
    AwaitRunning(*launcher, 1);
    Fill();
    EXPECT_EQ(Await(*launcher, 1).failure, FailureClass::kTimeout);
  });
}

TEST_F(FullDiskTest, IsToBlameForAFailureWhoseOutputIsLost) {
  OnSmallDisk([&] {
    const auto launcher = NewLauncher();
    Launch(*launcher, 1, {{"chief", 0, std::string(kWait) + kPrint + "exit 1"}});
    AwaitRunning(*launcher, 1);
    Fill();
    Go();
    const GangStatus status = Await(*launcher, 1);
    EXPECT_EQ(status.failure, FailureClass::kInternal);
    EXPECT_TRUE(status.transient);
    EXPECT_THAT(status.message,
                HasSubstr("and some of its output was lost: the disk of the runs was full"));
  });
}

TEST_F(FullDiskTest, LeavesTheRestartOfAReplicaToTheNextAttempt) {
  OnSmallDisk([&] {
    const auto launcher = NewLauncher();
    Launch(*launcher, 1, {{"chief", 0, std::string(kWait) + "kill -9 $$"}});
    AwaitRunning(*launcher, 1);
    Fill();
    Go();
    const GangStatus status = Await(*launcher, 1);
    EXPECT_EQ(status.failure, FailureClass::kPreempted);
    EXPECT_TRUE(status.transient);
    EXPECT_EQ(status.replicas[0].restarts, 0);
  });
}

TEST_F(FullDiskTest, NothingIsStartedUntilThereIsRoom) {
  OnSmallDisk([&] {
    const auto launcher = NewLauncher();
    const std::vector<Script> scripts = {{"chief", 0, "touch $OUT/ran"}};
    ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
    Fill();
    EXPECT_THAT(launcher->Start(Program(1, scripts, placed)),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         fmt::format("the disk of the runs has 0 MiB free in '{}', new trials "
                                     "wait until it has 16 MiB",
                                     runs_.string())));
    fs::remove(runs_ / "fill");
    ASSERT_THAT(launcher->Start(Program(1, scripts, placed)), IsOk());
    EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  });
}

TEST_F(FullDiskTest, GangsWaitInTheQueueWhileADiskHasLessThanItsReserve) {
  std::int64_t free = 15 << 20;
  ProcessLauncherOptions options;
  options.store_directory = "/the/store";
  options.disk_probe = [&](const std::string& folder) {
    const bool is_store = folder == "/the/store";
    return DiskSpace{.free_bytes = is_store ? free : 1 << 30, .total_bytes = 1 << 30};
  };
  const auto launcher = NewLauncher(options);
  const std::vector<Script> scripts = {{"chief", 0, "touch $OUT/ran"}};
  const std::string why =
      "the disk of the store has 15 MiB free in '/the/store', new trials wait until it has 16 MiB";
  const auto held = StatusIs(absl::StatusCode::kResourceExhausted, why);
  EXPECT_THAT(launcher->Prepare(Request(1, scripts)), held);
  EXPECT_THAT(launcher->Place(Request(1, scripts)), held);
  EXPECT_EQ(launcher->WhyHeld(), why);
  ASSERT_EQ(launcher->Queue().size(), 1);
  EXPECT_EQ(launcher->Queue().front().reason, why);
  free = 16 << 20;
  EXPECT_EQ(launcher->WhyHeld(), "");
  ASSERT_THAT(launcher->Prepare(Request(1, scripts)), IsOk());
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  EXPECT_TRUE(launcher->Queue().empty());
  ASSERT_THAT(launcher->Start(Program(1, scripts, placed)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
}

TEST_F(FullDiskTest, ASuccessSaysThatOutputIsLost) {
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {{"chief", 0, "echo loss=0.5"}};
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  const GangProgram gang = Program(1, scripts, placed);
  fs::create_directories(Folder(gang, 0));
  const std::string output = Folder(gang, 0) + "/output.log";
  if (mknod(output.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0) {  // As /dev/full.
    GTEST_SKIP() << "only root may make a device";
  }
  ASSERT_THAT(launcher->Start(gang), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kSucceeded);
  EXPECT_EQ(status.lost_output, "the disk of the runs was full (No space left on device)");
}

}  // namespace
}  // namespace vernier::launch
