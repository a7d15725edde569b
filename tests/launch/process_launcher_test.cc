#include "src/launch/local/process_launcher.h"

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/log_reader.h"
#include "src/launch/output_segments.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::Eventually;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kForever;
using testing::LocalGangTest;
using ::testing::Not;
using testing::Script;
using ::testing::SizeIs;
using testing::Slurp;
using ::testing::StartsWith;
using vernier::testing::IsOk;
using vernier::testing::StatusIs;

class ProcessLauncherTest : public LocalGangTest {};

std::string Outcome(const GangStatus& status) {
  return std::string(AttemptStateName(status.state)) + " " +
         std::string(FailureClassName(status.failure));
}

TEST_F(ProcessLauncherTest, TheChiefsSuccessEndsTheGang) {
  const auto launcher = NewLauncher();
  Launch(*launcher,
         1,
         {{"chief", 0, "sleep 0.05"},
          {"worker", 0, kForever},
          {"worker", 1, kForever},
          {"ps", 0, kForever},
          {"evaluator", 0, kForever}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "SUCCEEDED NONE");
  ASSERT_THAT(status.replicas, SizeIs(5));
  EXPECT_EQ(status.replicas[0].exit_code, 0);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(status.replicas[i].signal, SIGTERM);
  EXPECT_THAT(launcher->Release(Attempt(1)), IsOk());
  EXPECT_THAT(launcher->Check(Attempt(1)), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ProcessLauncherTest, TheChiefsFailureIsTheGangs) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, "exit 3"}, {"worker", 0, kForever}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "FAILED USER_ERROR");
  EXPECT_EQ(status.message,
            "The replica chief 0 exited with a non-zero status of 3. Termination reason: Error. It "
            "printed no error message.");
}

TEST_F(ProcessLauncherTest, PortsGoToThePrimaryThenParameterServersThenWorkers) {
  const auto launcher = NewLauncher({.first_port = 21000});
  const auto placed = launcher->Place(Request(1,
                                              {{"chief", 0, "true"},
                                               {"worker", 0, "true"},
                                               {"worker", 1, "true"},
                                               {"ps", 0, "true"},
                                               {"evaluator", 0, "true"}}));
  ASSERT_THAT(placed, IsOk());
  std::map<std::int32_t, std::string> by_port;
  for (const ReplicaPlacement& replica : placed->placement) {
    by_port[replica.port] = replica.role + std::to_string(replica.index);
  }
  std::string order;
  for (const auto& [port, replica] : by_port) order += replica + " ";
  EXPECT_EQ(order, "chief0 ps0 worker0 worker1 evaluator0 ");
}

TEST_F(ProcessLauncherTest, AnUnmanagedGangSeesTheUsersDevicesAndIsItsPrimary) {
  setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
  const auto launcher = NewLauncher({.unmanaged = true});
  const std::vector<Script> scripts = {
      {"chief", 0, "until [ -e $OUT/seen ]; do sleep 0.01; done; sleep 0.5; exit 7"},
      {"worker", 0, "echo \"$CUDA_VISIBLE_DEVICES\" > $OUT/seen; exit 1"}};
  GangProgram gang = Program(1, scripts, *launcher->Place(Request(1, scripts)));
  for (ReplicaProgram& replica : gang.replicas) replica.env["CUDA_VISIBLE_DEVICES"] = "";
  ASSERT_THAT(launcher->Start(gang), IsOk());
  const GangStatus status = Await(*launcher, 1);
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(Slurp(Out("seen")), "3,1\n");
  EXPECT_EQ(status.replicas[0].exit_code, 7);
  EXPECT_THAT(status.message,
              StartsWith("The replica chief 0 exited with a non-zero status of 7."));
}

TEST_F(ProcessLauncherTest, AWorkersSuccessMeansNothing) {
  const auto launcher = NewLauncher();
  const GangProgram gang =
      Launch(*launcher,
             1,
             {{"chief", 0, "until [ -e $OUT/go ]; do sleep 0.01; done"}, {"worker", 0, "exit 0"}});
  ASSERT_TRUE(Eventually([&] { return !Slurp(Folder(gang, 1) + "/exit.json").empty(); }));
  AwaitRunning(*launcher, 1);
  std::ofstream(Out("go")) << "";
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
}

TEST_F(ProcessLauncherTest, AFailedWorkerEndsTheGangOnceThePrimaryHadItsTime) {
  const auto launcher = NewLauncher({.failed_replica_patience = absl::Milliseconds(50)});
  Launch(*launcher, 1, {{"chief", 0, kForever}, {"worker", 0, "exit 0"}, {"worker", 1, "exit 9"}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "FAILED USER_ERROR");
  EXPECT_THAT(status.message, HasSubstr("The replica worker 1 exited"));
  EXPECT_EQ(status.replicas[0].signal, SIGTERM);
}

TEST_F(ProcessLauncherTest, APrimaryThatEndsWellForgivesAFailedWorker) {
  const auto launcher = NewLauncher();
  Launch(*launcher,
         1,
         {{"chief", 0, "until [ -e $OUT/failed ]; do sleep 0.01; done; sleep 0.1"},
          {"worker", 0, "touch $OUT/failed; exit 1"}});
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
}

TEST_F(ProcessLauncherTest, BlamesTheReplicaThatFailedFirst) {
  const auto launcher = NewLauncher();
  const GangProgram gang =
      Launch(*launcher,
             1,
             {{"chief", 0, "until [ -e $OUT/failed ]; do sleep 0.01; done; exit 1"},
              {"worker", 0, "kill -SEGV $$"}});
  ASSERT_TRUE(Eventually([&] { return !Slurp(Folder(gang, 1) + "/exit.json").empty(); }));
  std::ofstream(Out("failed")) << "";
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "FAILED USER_ERROR");
  EXPECT_EQ(
      status.message,
      "The replica worker 0 exited with a non-zero status of 11(SIGSEGV). Termination "
      "reason: crashed. It printed no error message. The replica chief 0 exited with a non-zero "
      "status of 1. Termination reason: Error.");
}

TEST_F(ProcessLauncherTest, SaysWhyTheReplicaToBlameFailed) {
  const auto launcher = NewLauncher();
  const std::string after_worker =
      "until [ -e $VERNIER_REPLICA_DIRECTORY/../worker-0/exit.json ]; do sleep 0.01; done; ";
  Launch(*launcher,
         1,
         {{"chief", 0, after_worker + "echo 'error: worker is gone' >&2; exit 1"},
          {"worker", 0, "echo epoch 1; echo 'error: bad lr' >&2; echo bye; exit 2"}});
  EXPECT_THAT(
      Await(*launcher, 1).message,
      StartsWith("error: bad lr. The replica worker 0 exited with a non-zero status of 2."));
}

TEST_F(ProcessLauncherTest, ThatAPeerWasLostIsNoBlame) {
  const auto launcher = NewLauncher();
  Launch(
      *launcher,
      1,
      {{"chief", 0, "echo 'RuntimeError: Connection reset by peer' >&2; touch $OUT/gone; exit 1"},
       {"worker",
        0,
        "until [ -e $OUT/gone ]; do sleep 0.01; done; sleep 1.5; echo 'error: bad lr' >&2; exit "
        "2"}});
  EXPECT_THAT(
      Await(*launcher, 1).message,
      StartsWith("error: bad lr. The replica worker 0 exited with a non-zero status of 2."));
}

TEST_F(ProcessLauncherTest, ReadsOnlyWhatTheRunThatFailedHasPrinted) {
  const auto launcher = NewLauncher();
  restarts_ = {.reading = FailureReading::kLenient, .replica = 1};
  Launch(
      *launcher,
      1,
      {{"chief",
        0,
        "if [ -e $OUT/again ]; then exit 2; fi; echo 'error: old' >&2; touch $OUT/again; exit 1"}});
  // The first failure is to blame, and says why.
  EXPECT_THAT(Await(*launcher, 1).message,
              StartsWith("error: old. The replica chief 0 exited with a non-zero status of 1."));
}

TEST_F(ProcessLauncherTest, StopTakesChildrenAndGrandchildrenDown) {
  const auto launcher = NewLauncher();
  grace_ = absl::Milliseconds(300);
  // One in the group, one that left it and its parent behind.
  const std::string script =
      "sleep 1000 & echo $! >> $OUT/pids; (setsid sleep 1000 & echo $! >> $OUT/pids); "
      "echo $$ >> $OUT/pids; wait";
  Launch(*launcher, 1, {{"chief", 0, script}, {"worker", 0, script}});
  ASSERT_TRUE(Eventually([&] { return testing::CountLines(Slurp(Out("pids"))) == 6; }));
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "STOPPED NONE");
  std::ifstream pids(Out("pids"));
  for (pid_t pid = 0; pids >> pid;) EXPECT_FALSE(testing::IsAlive(pid)) << pid;
}

TEST_F(ProcessLauncherTest, KillsWhatIgnoresTheEndSignal) {
  const auto launcher = NewLauncher();
  grace_ = absl::Milliseconds(100);
  Launch(*launcher, 1, {{"chief", 0, "trap '' TERM; touch $OUT/up; while :; do sleep 0.01; done"}});
  ASSERT_TRUE(Eventually([&] { return access(Out("up").c_str(), F_OK) == 0; }));
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "STOPPED NONE");
  EXPECT_EQ(status.replicas[0].signal, SIGKILL);
}

TEST_F(ProcessLauncherTest, SaysWhatATrialWaitsForAfterItsProgramHasEnded) {
  const auto launcher = NewLauncher();
  grace_ = absl::Milliseconds(300);
  const GangProgram gang =
      Launch(*launcher, 1, {{"chief", 0, "setsid sleep 1000 & echo $! > $OUT/pid; sleep 0.1"}});
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
  EXPECT_FALSE(testing::IsAlive(std::stoi(Slurp(Out("pid")))));
  EXPECT_THAT(Slurp(Folder(gang, 0) + "/output.log"),
              HasSubstr("[vernier] processes that the program left behind did not end within 1 s; "
                        "they are killed\n"));
}

TEST_F(ProcessLauncherTest, AProgramMayEndWellWhenStopped) {
  const auto launcher = NewLauncher();
  Launch(*launcher,
         1,
         {{"chief", 0, "trap 'exit 0' TERM; touch $OUT/up; while :; do sleep 0.01; done"}});
  ASSERT_TRUE(Eventually([&] { return access(Out("up").c_str(), F_OK) == 0; }));
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "STOPPED NONE");
  EXPECT_EQ(status.replicas[0].exit_code, 0);
}

TEST_F(ProcessLauncherTest, StopsAtTheTimeLimit) {
  const auto launcher = NewLauncher();
  time_limit_ = absl::Milliseconds(50);
  Launch(*launcher, 1, {{"chief", 0, kForever}, {"worker", 0, kForever}});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "FAILED TIMEOUT");
  EXPECT_EQ(status.message, "ran for longer than its time limit of 50ms");
}

TEST_F(ProcessLauncherTest, AReplicaWhoseSupervisorIsKilledIsLostAndLeavesNothing) {
  const auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher,
                                  1,
                                  {{"chief",
                                    0,
                                    "sleep 1000 & echo $! >> $OUT/pids; (setsid sleep 1000 & echo "
                                    "$! >> $OUT/pids); echo $$ >> $OUT/pids; wait"},
                                   {"worker", 0, kForever}});
  ASSERT_TRUE(Eventually([&] { return testing::CountLines(Slurp(Out("pids"))) == 3; }));
  kill(std::stoi(Slurp(Folder(gang, 0) + "/supervisor.lock")), SIGKILL);
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "LOST NODE_LOST");
  EXPECT_THAT(status.message, HasSubstr("The replica chief 0 was lost"));
  EXPECT_FALSE(status.replicas[0].exit_code.has_value() || status.replicas[0].signal.has_value());
  EXPECT_EQ(status.replicas[1].signal, SIGTERM);
  std::ifstream pids(Out("pids"));
  for (pid_t pid = 0; pids >> pid;) {
    EXPECT_TRUE(Eventually([&] { return !testing::IsAlive(pid); })) << pid;
  }
}

TEST_F(ProcessLauncherTest, SaysWhyAProgramCannotBeStarted) {
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {{"chief", 0, ""}};
  ASSERT_OK_AND_ASSIGN(PlacedGang placed, launcher->Place(Request(1, scripts)));
  GangProgram gang = Program(1, scripts, placed);
  gang.replicas[0].argv = {"vernier-no-such-program"};
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(Await(*launcher, 1).message,
            "The replica chief 0 could not be started: cannot run 'vernier-no-such-program': No "
            "such file or directory.");

  ASSERT_OK_AND_ASSIGN(placed, launcher->Place(Request(2, scripts)));
  gang = Program(2, scripts, placed);
  gang.replicas[0].directory = "/no/such/folder";
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_THAT(Await(*launcher, 2).message,
              HasSubstr("cannot enter directory '/no/such/folder': No such file or directory"));
}

TEST_F(ProcessLauncherTest, MakesItsFilesBeforeAProgramStarts) {
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {{"chief", 0, "cp $VERNIER_REPLICA_DIRECTORY/p.json $OUT/"}};
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  GangProgram gang = Program(1, scripts, placed);
  gang.replicas[0].files = {{placed.directory + "/chief-0/p.json", "{\"lr\":0.1}\n"}};
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
  EXPECT_EQ(Slurp(Out("p.json")), "{\"lr\":0.1}\n");
}

TEST_F(ProcessLauncherTest, ASecretIsInTheProgramsEnvironmentAndInNoRecord) {
  ProcessLauncherOptions options;
  options.secrets_directory = Out("secrets");
  const auto launcher = NewLauncher(options);
  std::filesystem::create_directory(options.secrets_directory);
  std::ofstream(options.secrets_directory + "/db") << "pass word\n";
  std::ofstream(Out("key")) << "k3y-value\r\n";
  const std::vector<Script> scripts = {{"chief", 0, "printf '%s' \"$DB:$KEY\" > $OUT/seen"}};
  ASSERT_OK_AND_ASSIGN(PlacedGang placed, launcher->Place(Request(1, scripts)));
  GangProgram gang = Program(1, scripts, placed);
  gang.replicas[0].secrets = {{"DB", {.name = "db"}}, {"KEY", {.from_file = Out("key")}}};
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
  EXPECT_EQ(Slurp(Out("seen")), "pass word:k3y-value");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(placed.directory)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(Slurp(entry.path()), Not(AnyOf(HasSubstr("pass word"), HasSubstr("k3y-value"))))
        << entry.path();
  }

  ASSERT_OK_AND_ASSIGN(placed, launcher->Place(Request(2, scripts)));
  gang = Program(2, scripts, placed);
  gang.replicas[0].secrets = {{"DB", {.name = "none"}}};
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(
      Await(*launcher, 2).message,
      "The replica chief 0 could not be started: cannot read the secret of variable DB from '" +
          options.secrets_directory + "/none': No such file or directory.");
}

TEST_F(ProcessLauncherTest, StartingAgainStartsNothing) {
  const auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs"}});
  ASSERT_THAT(launcher->Start(gang), IsOk());
  Await(*launcher, 1);
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(testing::CountLines(Slurp(Out("runs"))), 1);
}

TEST_F(ProcessLauncherTest, AStoppedGangThatWasOnlyPlacedNeverStarts) {
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {{"chief", 0, "touch $OUT/ran"}};
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  ASSERT_OK_AND_ASSIGN(const GangStatus status, launcher->Check(Attempt(1)));
  EXPECT_EQ(Outcome(status), "PLACED NONE");
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "STOPPED NONE");
  EXPECT_THAT(launcher->Start(Program(1, scripts, placed)), IsOk());
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "STOPPED NONE");
  EXPECT_NE(access(Out("ran").c_str(), F_OK), 0);
}

TEST_F(ProcessLauncherTest, RefusesToGiveBackTheRoomOfARunningGang) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, kForever}});
  AwaitRunning(*launcher, 1);
  EXPECT_THAT(launcher->Release(Attempt(1)), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_THAT(launcher->Stop(Attempt(1)), IsOk());
  Await(*launcher, 1);
  EXPECT_THAT(launcher->Release(Attempt(1)), IsOk());
}

TEST_F(ProcessLauncherTest, TwoGangsNeverShareADevice) {
  const auto launcher = NewLauncher({.cpus = 8, .gpus = {"T4:0", "T4:1", "T4:2"}});
  const Resources one_gpu{.cpus = 0.1, .gpus = 1, .gpu_type = "T4"};
  const std::vector<Script> pair = {{"chief", 0, kForever, one_gpu},
                                    {"worker", 0, kForever, one_gpu}};
  ASSERT_OK_AND_ASSIGN(const PlacedGang first, launcher->Place(Request(1, pair)));
  EXPECT_THAT(first.placement[0].gpus, ElementsAre("0"));
  EXPECT_THAT(first.placement[1].gpus, ElementsAre("1"));
  const absl::Status waits = launcher->Place(Request(2, pair)).status();
  EXPECT_THAT(waits, StatusIs(absl::StatusCode::kResourceExhausted, "needs 2 T4, 1 free"));
  EXPECT_EQ(GetReason(waits), Reason::kInsufficientCapacity);
  ASSERT_THAT(launcher->Release(Attempt(1)), IsOk());
  ASSERT_OK_AND_ASSIGN(const PlacedGang third,
                       launcher->Place(Request(3, {{"chief", 0, kForever, one_gpu}})));
  EXPECT_THAT(third.placement[0].gpus, ElementsAre("2"));
  ASSERT_OK_AND_ASSIGN(const PlacedGang second, launcher->Place(Request(2, pair)));
  EXPECT_THAT(second.placement[1].gpus, ElementsAre("1"));
}

TEST_F(ProcessLauncherTest, AGangThatWaitsHasItsTurnUntilItIsReleased) {
  const auto launcher = NewLauncher({.cpus = 2});
  const std::vector<Script> one = {{"chief", 0, kForever, {.cpus = 1}}};
  const std::vector<Script> all = {{"chief", 0, kForever, {.cpus = 2}}};
  ASSERT_THAT(launcher->Place(Request(1, one)), IsOk());
  EXPECT_THAT(launcher->Place(Request(2, all)),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 2 cpus, 1 free"));
  EXPECT_THAT(launcher->Place(Request(3, one)), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(launcher->Queue(), SizeIs(2));
  ASSERT_THAT(launcher->Release(Attempt(2)), IsOk());
  EXPECT_THAT(launcher->Place(Request(3, one)), IsOk());
  EXPECT_THAT(launcher->Queue(), IsEmpty());
  ASSERT_THAT(launcher->Nodes(), SizeIs(1));
  EXPECT_EQ(launcher->Nodes()[0].cpus, 2);
  EXPECT_EQ(launcher->Nodes()[0].free_cpus, 0);
}

TEST_F(ProcessLauncherTest, GivesEveryReplicaAPortThatItCanBind) {
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {{"chief", 0, ""}, {"worker", 0, ""}};
  std::set<std::int32_t> ports;
  ASSERT_OK_AND_ASSIGN(const PlacedGang other, launcher->Place(Request(2, scripts)));
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, launcher->Place(Request(1, scripts)));
  for (const Placement& placement : {other.placement, placed.placement}) {
    for (const ReplicaPlacement& replica : placement) ports.insert(replica.port);
  }
  EXPECT_THAT(ports, SizeIs(4));
  GangProgram gang = Program(1, scripts, placed);
  for (std::size_t i = 0; i < 2; ++i) {
    gang.replicas[i].argv = {"python3",
                             "-c",
                             "import socket; socket.socket().bind(('127.0.0.1', " +
                                 std::to_string(placed.placement[i].port) + "))"};
  }
  ASSERT_THAT(launcher->Start(gang), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(Outcome(status), "SUCCEEDED NONE") << status.message;
}

TEST_F(ProcessLauncherTest, AStudyWithTheNameOfADeletedOneStartsAfresh) {
  const auto launcher = NewLauncher();
  const GangProgram old = Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs"}});
  Await(*launcher, 1);
  ASSERT_THAT(launcher->Release(Attempt(1)), IsOk());
  const GangProgram fresh = Launch(*launcher, 1, {{"chief", 0, "echo >> $OUT/runs"}});
  Await(*launcher, 1);
  EXPECT_NE(fresh.placed.directory, old.placed.directory);
  EXPECT_EQ(testing::CountLines(Slurp(Out("runs"))), 2);
}

TEST_F(ProcessLauncherTest, KeepsWhatIsPrintedWhateverItIs) {
  const auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher,
                                  1,
                                  {{"chief",
                                    0,
                                    "echo out; echo err >&2; printf 'a\\000\\377b\\n'; "
                                    "head -c 150000 /dev/zero | tr '\\0' x; echo; printf end"}});
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
  LogReader reader(gang.placed.directory);
  // By stream: their order among each other is open.
  std::map<bool, std::vector<std::string>> texts;
  ASSERT_OK_AND_ASSIGN(const std::vector<LogLine> lines, reader.Read());
  for (const LogLine& line : lines) texts[line.is_stderr].push_back(line.text);
  EXPECT_THAT(texts[true], ElementsAre("err"));
  EXPECT_THAT(texts[false],
              ElementsAre("out",
                          std::string("a\0\377b", 4),
                          std::string(65536, 'x'),
                          std::string(65536, 'x'),
                          std::string(150000 - 2 * 65536, 'x'),
                          "end"));
}

TEST_F(ProcessLauncherTest, TellsWhatReplicasUsed) {
  const auto launcher = NewLauncher();
  Launch(*launcher, 1, {{"chief", 0, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"}});
  const GangStatus status = Await(*launcher, 1);
  ASSERT_EQ(Outcome(status), "SUCCEEDED NONE");
  EXPECT_GT(status.replicas.front().cpu_time, absl::Milliseconds(10));
  EXPECT_LT(status.replicas.front().cpu_time, absl::Minutes(1));
  EXPECT_GT(status.replicas.front().peak_memory_bytes, 100'000);
}

TEST_F(ProcessLauncherTest, FollowsOutputThatTakesSeveralFiles) {
  output_bytes_ = std::int64_t{8} << 20;  // Of which the program prints less.
  const auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, {{"chief", 0, "seq 1 150000"}});
  LogReader reader(gang.placed.directory);
  std::int64_t next = 1;
  const auto read_on = [&] {
    ASSERT_OK_AND_ASSIGN(const std::vector<LogLine> lines, reader.Read());
    for (const LogLine& line : lines) {
      ASSERT_EQ(line.text, std::to_string(next));
      ++next;
    }
  };
  while (!HasFailure() && !IsEnded(launcher->Check(Attempt(1))->state)) read_on();
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
  for (int i = 0; i < 50 && next <= 150000 && !HasFailure(); ++i) read_on();
  EXPECT_EQ(next, 150001);
  EXPECT_GT(ListSegments(Folder(gang, 0) + "/output.log").size(), 3U);
}

TEST_F(ProcessLauncherTest, KeepsNoMoreOutputThanTheJobAllows) {
  output_bytes_ = std::int64_t{1} << 20;
  const auto launcher = NewLauncher();
  const GangProgram gang = Launch(*launcher, 1, {{"chief", 0, "seq 1 200000"}});
  EXPECT_EQ(Outcome(Await(*launcher, 1)), "SUCCEEDED NONE");
  std::uintmax_t kept = 0;
  for (const auto& file : std::filesystem::directory_iterator(Folder(gang, 0))) {
    if (file.path().filename().string().starts_with("output.log")) kept += file.file_size();
  }
  EXPECT_LE(kept, std::uintmax_t{1} << 20);
  LogReader reader(gang.placed.directory);
  ASSERT_OK_AND_ASSIGN(const std::vector<LogLine> first, reader.Read(1));
  EXPECT_EQ(first.front().text, "1");
  ASSERT_THAT(reader.SeekTail(1), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::vector<LogLine> last, reader.Read());
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last.front().text, "200000");
}

TEST_F(ProcessLauncherTest, RefusesWhatItCannotRunWith) {
  EXPECT_THAT(NewProcessLauncher({.runs_directory = "/tmp/x", .supervisor = "/no/such"}, *clock_),
              StatusIs(absl::StatusCode::kNotFound, "supervisor '/no/such' is no program"));
  EXPECT_THAT(NewProcessLauncher({.runs_directory = "/proc/x", .supervisor = "/bin/true"}, *clock_),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot create folder")));
  EXPECT_THAT(
      NewProcessLauncher(
          {.runs_directory = "/tmp/x", .supervisor = "/bin/true", .gpus = {"T4:0", "0"}}, *clock_),
      StatusIs(absl::StatusCode::kInvalidArgument, "gpu '0': id 0 is declared twice"));
  EXPECT_THAT(NewProcessLauncher({.runs_directory = "/tmp/x", .supervisor = "/bin/true", .cpus = 0},
                                 *clock_),
              StatusIs(absl::StatusCode::kInvalidArgument, "cpus: must be above 0, got 0"));
}

TEST_F(ProcessLauncherTest, ReportsASupervisorThatDoesNotWork) {
  const auto launcher = NewProcessLauncher(
      {.runs_directory = Out("runs"), .supervisor = "/bin/false", .detect_gpus = false}, *clock_);
  ASSERT_THAT(launcher, IsOk());
  const std::vector<Script> scripts = {{"chief", 0, ""}};
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed, (*launcher)->Place(Request(1, scripts)));
  EXPECT_THAT(
      (*launcher)->Start(Program(1, scripts, placed)),
      StatusIs(absl::StatusCode::kUnavailable, "supervisor '/bin/false' gave up: no reason"));
  ASSERT_THAT((*launcher)->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Outcome(Await(**launcher, 1)), "STOPPED NONE");
  EXPECT_THAT((*launcher)->Release(Attempt(1)), IsOk());
}

TEST_F(ProcessLauncherTest, UnpacksCodeForEachReplicaOnce) {
  fs::create_directories(Out("tree/sub"));
  std::ofstream(Out("tree/sub/word")) << "A";
  ASSERT_EQ(std::system(fmt::format("tar -C {0}/tree -czf {0}/code.tar.gz .", Out("")).c_str()), 0);
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {
      {"chief",
       0,
       "while [ ! -s $OUT/worker ]; do sleep 0.05; done; cat word > $OUT/chief; echo B > word; "
       "kill -9 $$"},
      {"worker", 0, "cat word > $OUT/worker; sleep 1000"}};
  restarts_.replica = 1;
  const auto placed = launcher->Place(Request(1, scripts));
  ASSERT_THAT(placed, IsOk());
  GangProgram gang = Program(1, scripts, *placed);
  for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
    const std::string work = Folder(gang, i) + "/work";
    gang.replicas[i].directory = work + "/sub";
    gang.replicas[i].folders = {work};
    gang.replicas[i].code = {.archive = Out("code.tar.gz"), .folder = work};
  }
  ASSERT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kFailed);
  EXPECT_EQ(Slurp(Out("chief")), "B\n");  // The second run found what the first had left.
  EXPECT_EQ(Slurp(Out("worker")), "A");
  EXPECT_EQ(Slurp(Out("tree/sub/word")), "A");
}

TEST_F(ProcessLauncherTest, SaysThatCodeCannotBeUnpacked) {
  std::ofstream(Out("code.tar.gz")) << "no archive";
  const auto launcher = NewLauncher();
  const std::vector<Script> scripts = {{"chief", 0, "touch $OUT/ran"}};
  const auto placed = launcher->Place(Request(1, scripts));
  ASSERT_THAT(placed, IsOk());
  GangProgram gang = Program(1, scripts, *placed);
  const std::string work = Folder(gang, 0) + "/work";
  gang.replicas[0].folders = {work};
  gang.replicas[0].code = {.archive = Out("code.tar.gz"), .folder = work};
  ASSERT_THAT(launcher->Start(gang), IsOk());
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_THAT(status.message, HasSubstr("its code cannot be unpacked: "));
  EXPECT_FALSE(fs::exists(Out("ran")));
}

TEST_F(ProcessLauncherTest, TellsWhenProgramsStartedAndEndedWheneverItIsAsked) {
  const auto launcher = NewLauncher();
  const absl::Time before = clock_->Now();
  const GangProgram gang = Launch(*launcher, 1, {{"chief", 0, "sleep 0.2"}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(Folder(gang, 0) + "/exit.json"); }));
  const absl::Time over = clock_->Now();
  absl::SleepFor(absl::Milliseconds(300));
  const GangStatus status = Await(*launcher, 1);
  ASSERT_EQ(status.replicas.size(), 1u);
  const ReplicaResult& chief = status.replicas.front();
  ASSERT_TRUE(chief.started.has_value() && chief.ended.has_value());
  EXPECT_GE(*chief.started, before - absl::Milliseconds(1));
  EXPECT_LE(*chief.ended, over + absl::Milliseconds(1));
  EXPECT_GE(*chief.ended - *chief.started, absl::Milliseconds(190));
}

}  // namespace
}  // namespace vernier::launch
