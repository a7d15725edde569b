#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/log_reader.h"
#include "src/launch/replica_files.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"

// Replicas that end in a way that may pass: they are started again in the same attempt, by their own supervisors.
namespace vernier::launch {
namespace {

using testing::CountLines;
using testing::Eventually;
using ::testing::HasSubstr;
using testing::kForever;
using testing::LocalGangTest;
using testing::Script;
using testing::Slurp;
using vernier::testing::IsOk;

// A chief that succeeds once the file is there.
const char kUntilGo[] = "until [ -e $OUT/go ]; do sleep 0.01; done";
// Writes down what a run was given, and its process.
const char kNote[] =
    "echo $PEERS $PWD $0 >> $OUT/runs; echo $$ > $OUT/pid.new; "
    "mv $OUT/pid.new $OUT/pid; ";

std::string OutcomeAndRestart(const GangStatus& status) {
  return std::string(AttemptStateName(status.state)) + " " +
         std::string(FailureClassName(status.failure)) + (status.transient ? " again" : "");
}

class ReplicaRestartTest : public LocalGangTest {
 protected:
  void Go() const { std::ofstream(Out("go")) << ""; }
  std::int64_t Runs() const { return CountLines(Slurp(Out("runs"))); }
  // Kills the program once so many runs of it were noted.
  void KillRun(std::int64_t run) const {
    ASSERT_TRUE(Eventually([&] { return Runs() == run; })) << run;
    std::string pid;
    ASSERT_TRUE(Eventually([&] { return !(pid = Slurp(Out("pid"))).empty(); }));
    ASSERT_TRUE(Eventually([&] {
      pid = Slurp(Out("pid"));
      return pid != last_ && kill(std::stoi(pid), SIGKILL) == 0;
    }));
    last_ = pid;
  }

 private:
  mutable std::string last_;
};

TEST_F(ReplicaRestartTest, AKilledWorkerIsStartedAgainWithAllThatItHad) {
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {{"chief", 0, kUntilGo},
                                       {"worker", 0, std::string(kNote) + kForever}};
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  GangProgram gang = Program(1, scripts, placed);
  gang.replicas[1].env["PEERS"] = "127.0.0.1:" + std::to_string(placed.placement[1].port);
  gang.replicas[1].argv.insert(gang.replicas[1].argv.end(), {"--job-dir=/jobs/7"});
  ASSERT_THAT(launcher->Start(gang), IsOk());
  ASSERT_TRUE(
      Eventually([&] { return launcher->Check(Attempt(1))->state == AttemptState::kRunning; }));
  KillRun(1);
  ASSERT_TRUE(Eventually([&] { return Runs() == 2; }));
  const std::string runs = Slurp(Out("runs"));
  const std::string first = runs.substr(0, runs.find('\n') + 1);
  EXPECT_EQ(runs, first + first);
  EXPECT_THAT(first, HasSubstr("--job-dir=/jobs/7"));
  ASSERT_OK_AND_ASSIGN(const GangStatus running, launcher->Check(Attempt(1)));
  EXPECT_EQ(running.state, AttemptState::kRunning);
  EXPECT_EQ(running.replicas[1].restarts, 1);
  // Nobody else is given its port meanwhile.
  ASSERT_OK_AND_ASSIGN(const PlacedGang other, launcher->Place(Request(2, scripts)));
  for (const ReplicaPlacement& replica : other.placement) {
    EXPECT_NE(replica.port, placed.placement[1].port);
  }
  Go();
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(OutcomeAndRestart(status), "SUCCEEDED NONE");
  EXPECT_EQ(status.replicas[0].restarts, 0);
  EXPECT_EQ(status.replicas[1].restarts, 1);
}

TEST_F(ReplicaRestartTest, ThePrimaryIsRestartedLikeAnyOther) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, std::string(kNote) + kUntilGo}});
  KillRun(1);
  KillRun(2);
  ASSERT_TRUE(Eventually([&] { return Runs() == 3; }));
  Go();
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(OutcomeAndRestart(status), "SUCCEEDED NONE");
  EXPECT_EQ(status.replicas[0].restarts, 2);
}

TEST_F(ReplicaRestartTest, TheSixthEndFromOutsideIsTheGangs) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs; kill -KILL $$"}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(OutcomeAndRestart(status), "FAILED PREEMPTED again");
  EXPECT_EQ(status.replicas[0].restarts, 5);
  EXPECT_EQ(Runs(), 6);
  EXPECT_THAT(status.message, HasSubstr(" It was restarted 5 times."));
}

TEST_F(ReplicaRestartTest, AContainersStatusCountsAsTheSignal) {
  restarts_.replica = 1;
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs; exit 137"}});
  EXPECT_EQ(OutcomeAndRestart(Await(*launcher, 1)), "FAILED PREEMPTED again");
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ReplicaRestartTest, AnAbortIsForTheWholeJob) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs; ulimit -c 0; kill -ABRT $$"}});
  EXPECT_EQ(OutcomeAndRestart(Await(*launcher, 1)), "FAILED USER_ERROR again");
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ReplicaRestartTest, AnOwnStatusIsFinal) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs; exit 1"}});
  EXPECT_EQ(OutcomeAndRestart(Await(*launcher, 1)), "FAILED USER_ERROR");
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ReplicaRestartTest, AnOwnStatusReadLenientlyIsNot) {
  restarts_ = {.reading = FailureReading::kLenient, .replica = 2};
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs; exit 1"}});
  EXPECT_EQ(OutcomeAndRestart(Await(*launcher, 1)), "FAILED USER_ERROR again");
  EXPECT_EQ(Runs(), 3);
}

// As a gang of collectives does: the chief ends by an own status once its peer is gone.
TEST_F(ReplicaRestartTest, AChiefThatDiesOfItsPeerIsNotToBlame) {
  const auto launcher = NewLauncher();
  Launch(*launcher,
         1,
         {{"chief", 0, "until [ -e $OUT/lost ]; do sleep 0.01; done; sleep 0.2; exit 1"},
          {"worker", 0, "[ -e $OUT/lost ] && exec sleep 1000; touch $OUT/lost; kill -KILL $$"}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(OutcomeAndRestart(status), "FAILED PREEMPTED again");
  EXPECT_THAT(status.message, ::testing::StartsWith("The replica worker 0 exited"));
  EXPECT_THAT(status.message, HasSubstr("The replica chief 0 exited"));
}

TEST_F(ReplicaRestartTest, WhatIsToldToStopIsNotStartedAgain) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, std::string(kNote) + kForever}});
  ASSERT_TRUE(Eventually([&] { return Runs() == 1; }));
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(OutcomeAndRestart(status), "STOPPED NONE");
  EXPECT_EQ(status.replicas[0].restarts, 0);
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ReplicaRestartTest, GoesOnWhileNobodyLooksAndIsCountedOnce) {
  const std::vector<Script> scripts = {{"chief", 0, std::string(kNote) + kUntilGo}};
  auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, scripts);
  launcher.reset();
  KillRun(1);
  ASSERT_TRUE(Eventually([&] { return Runs() == 2; }));
  launcher = NewLauncher();
  ASSERT_OK_AND_ASSIGN(const GangStatus adopted, launcher->Adopt(Request(1, scripts), gang.placed));
  EXPECT_EQ(adopted.state, AttemptState::kRunning);
  EXPECT_EQ(adopted.replicas[0].restarts, 1);
  ASSERT_THAT(launcher->Start(gang), IsOk());  // As the engine may; it starts nothing.
  launcher = NewLauncher();
  ASSERT_THAT(launcher->Adopt(Request(1, scripts), gang.placed), IsOk());
  Go();
  EXPECT_EQ(Await(*launcher, 1).replicas[0].restarts, 1);
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ReplicaRestartTest, ASupervisorThatIsKilledRestartsNothing) {
  const auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, {{"chief", 0, std::string(kNote) + kForever}});
  KillRun(1);
  ASSERT_TRUE(Eventually([&] { return Runs() == 2; }));
  kill(std::stoi(Slurp(Folder(gang, 0) + "/supervisor.lock")), SIGKILL);
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(OutcomeAndRestart(status), "LOST NODE_LOST again");
  EXPECT_EQ(status.replicas[0].restarts, 1);
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ReplicaRestartTest, TheOutputOfAllRunsIsKeptInOrder) {
  restarts_.replica = 2;
  const auto launcher = NewLauncher();
  const GangProgram gang =
      Launch(*launcher, 1, {{"chief", 0, "echo run; printf torn; kill -KILL $$"}});
  Await(*launcher, 1);
  LogReader reader(gang.placed.directory);
  ASSERT_OK_AND_ASSIGN(const std::vector<LogLine> lines, reader.Read());
  std::vector<std::string> texts;
  for (const LogLine& line : lines) texts.push_back(line.text);
  EXPECT_THAT(texts,
              ::testing::ElementsAre("run",
                                     "torn",
                                     "[vernier] restart 1 of 2: the program was ended by signal 9",
                                     "run",
                                     "torn",
                                     "[vernier] restart 2 of 2: the program was ended by signal 9",
                                     "run",
                                     "torn"));
}

TEST_F(ReplicaRestartTest, NothingOfTheRunBeforeIsLeft) {
  const auto launcher = NewLauncher();
  Launch(
      *launcher,
      1,
      {{"chief",
        0,
        "if [ -e $OUT/child ]; then kill -0 $(cat $OUT/child) 2>/dev/null && exit 3; exit 0; fi; "
        "(trap '' HUP; exec sleep 1000) & echo $! > $OUT/child; kill -KILL $$"}});
  EXPECT_EQ(OutcomeAndRestart(Await(*launcher, 1)), "SUCCEEDED NONE");
}

}  // namespace
}  // namespace vernier::launch
