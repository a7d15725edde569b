// One history of a real cluster, seen through Slurm's commands and through slurmrestd: at each step both say the same.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/slurm/commands.h"
#include "src/launch/slurm/rest.h"
#include "tests/slurm/test_cluster.h"
#include "tests/support/eventually.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch::slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::vernier::testing::Eventually;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;
using ::vernier::testing::test_cluster;

// Starts slurmrestd once, and the two clients.
class SameHistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static const std::string url = test_cluster->Run("rest");
    options_ = {.url = url, .user = "", .token_file = test_cluster->folder() + "/token"};
    WriteToken(test_cluster->Run("token"));
    rest_ = NewSlurmRest(options_);
    folder_ = test_cluster->folder() + "/100%j";  // Slurm replaces %j in names of output files.
    fs::create_directories(folder_);
  }

  void WriteToken(const std::string& token) const {
    std::ofstream(options_.token_file) << token << "\n";
    chmod(options_.token_file.c_str(), 0600);
  }

  BatchJob Job(const std::string& name,
               const std::string& script,
               std::vector<Component> components = {{}}) {
    const std::string path = fmt::format("{}/{}.sh", folder_, name);
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    return {.name = name,
            .comment = "vernier " + folder_ + "/" + name,
            .script = path,
            .output = folder_ + "/" + name + ".log",
            .directory = folder_,
            .components = std::move(components),
            .time_limit = absl::Minutes(5)};
  }

  // Both see the same, with nothing happening in between.
  void ExpectSame() {
    EXPECT_TRUE(Eventually([&] {
      const auto before = commands_->Jobs();
      const auto rest = rest_->Jobs();
      const auto after = commands_->Jobs();
      EXPECT_THAT(before, IsOk());
      EXPECT_THAT(rest, IsOk());
      if (!before.ok() || !rest.ok() || !after.ok() || *before != *after) return false;
      EXPECT_EQ(*before, *rest);
      return true;
    }));
    const auto nodes = commands_->Nodes();
    ASSERT_THAT(nodes, IsOk());
    EXPECT_EQ(rest_->Nodes().value(), *nodes);
  }

  JobRecord RecordOf(std::int64_t id) {
    const auto jobs = rest_->Jobs();
    EXPECT_THAT(jobs, IsOk());
    for (const JobRecord& job : *jobs) {
      if (job.id == id) return job;
    }
    return {};
  }
  void AwaitState(std::int64_t id, JobState state) {
    EXPECT_TRUE(Eventually([&] {
      const JobRecord job = RecordOf(id);
      return job.state == state && !job.is_completing;
    })) << id
        << " does not become " << JobStateName(state) << " but "
        << JobStateName(RecordOf(id).state);
    ExpectSame();
  }

  // A node's, or the controller's.
  static void KillDaemon(const std::string& name) {
    std::ifstream file(fmt::format("{}/c/run/{}.pid", test_cluster->folder(), name));
    pid_t pid = 0;
    ASSERT_TRUE(file >> pid);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
  }

  RestOptions options_;
  std::string folder_;
  std::unique_ptr<Slurm> commands_ = NewSlurmCommands({});
  std::unique_ptr<Slurm> rest_;
};

TEST_F(SameHistoryTest, OfJobsThatEndInEveryWay) {
  ExpectSame();
  std::vector<std::pair<std::int64_t, JobState>> ended;
  // Each by one client and by the other.
  for (Slurm* by : {commands_.get(), rest_.get()}) {
    const std::string who = by == rest_.get() ? "rest" : "commands";
    const auto good = by->Submit(Job("good-" + who, "true"));
    const auto bad = by->Submit(Job("bad-" + who, "exit 7"));
    ASSERT_THAT(good, IsOk());
    ASSERT_THAT(bad, IsOk());
    AwaitState(*good, JobState::kCompleted);
    AwaitState(*bad, JobState::kFailed);
    EXPECT_EQ(RecordOf(*bad).exit_code, 7);

    // Of two components, each with its own devices; cancelled while it runs.
    const auto pair =
        by->Submit(Job("pair-" + who,
                       "srun --mpi=none --het-group=0,1 --gpu-bind=per_task:2 sleep 100",
                       {{.cpus = 2}, {.tasks = 2, .gpus = 2, .gpu_type = "v100"}}));
    ASSERT_THAT(pair, IsOk());
    AwaitState(*pair, JobState::kRunning);
    EXPECT_THAT(by->Cancel(*pair), IsOk());
    AwaitState(*pair, JobState::kCancelled);
    EXPECT_THAT(by->Cancel(*pair), IsOk());
    EXPECT_THAT(by->Cancel(999'999), IsOk());
    EXPECT_THAT(by->Stop(999'999, Listener::kStep), IsOk());

    // One that waits for all CPUs behind one that has them, and is cancelled there.
    const auto all = by->Submit(Job("all-" + who, "sleep 100", {{.tasks = 4, .cpus = 8}}));
    ASSERT_THAT(all, IsOk());
    AwaitState(*all, JobState::kRunning);
    const auto waits = by->Submit(Job("waits-" + who, "true", {{.cpus = 8}}));
    ASSERT_THAT(waits, IsOk());
    EXPECT_TRUE(Eventually([&] { return RecordOf(*waits).reason == "Resources"; }));
    ExpectSame();
    EXPECT_TRUE(Eventually([&] { return RecordOf(*waits).started.has_value(); }));
    ExpectSame();
    EXPECT_THAT(by->Cancel(*waits), IsOk());
    AwaitState(*waits, JobState::kCancelled);
    EXPECT_THAT(by->Cancel(*all), IsOk());
    AwaitState(*all, JobState::kCancelled);
  }
}

TEST_F(SameHistoryTest, OfSignalsAndANodeThatIsDown) {
  for (Slurm* by : {commands_.get(), rest_.get()}) {
    const std::string who = by == rest_.get() ? "rest" : "commands";
    // The signal reaches the step's task. As a supervisor does, the task takes URG for TERM. slurmrestd tells the script,
    // which hands it on.
    const auto told = by->Submit(
        Job("told-" + who,
            fmt::format("trap 'touch {0}/script-{1}; scancel --signal=URG $SLURM_JOB_ID' URG\n"
                        "srun --mpi=none sh -c \"trap 'touch {0}/task-{1}; exit 0' TERM URG; "
                        "touch {0}/up-{1}; while :; do sleep 0.1; done\" &\nwait; wait",
                        folder_,
                        who)));
    ASSERT_THAT(told, IsOk());
    ASSERT_TRUE(Eventually([&] { return fs::exists(folder_ + "/up-" + who); }));
    EXPECT_THAT(by->Stop(*told, Listener::kStep), IsOk());
    AwaitState(*told, JobState::kCompleted);
    EXPECT_TRUE(fs::exists(folder_ + "/task-" + who));
    EXPECT_EQ(fs::exists(folder_ + "/script-" + who), by == rest_.get());

    // A script that is the job's only task.
    const auto alone = by->Submit(
        Job("alone-" + who,
            fmt::format("trap 'touch {0}/alone-{1}; exit 0' TERM URG; touch {0}/up-alone-{1}; "
                        "while :; do sleep 0.1; done",
                        folder_,
                        who)));
    ASSERT_THAT(alone, IsOk());
    ASSERT_TRUE(Eventually([&] { return fs::exists(folder_ + "/up-alone-" + who); }));
    EXPECT_THAT(by->Stop(*alone, Listener::kScript), IsOk());
    AwaitState(*alone, JobState::kCompleted);
    EXPECT_TRUE(fs::exists(folder_ + "/alone-" + who));
  }
  ASSERT_EQ(std::system("scontrol update nodename=n2 state=down reason=test"), 0);
  ExpectSame();
  const std::vector<NodeRecord> nodes = rest_->Nodes().value();
  const auto down = std::ranges::find(nodes, "n2", &NodeRecord::name);
  ASSERT_NE(down, nodes.end());
  EXPECT_FALSE(down->is_usable);
  EXPECT_EQ(down->reason, "test");
  ASSERT_EQ(std::system("scontrol update nodename=n2 state=resume"), 0);
  EXPECT_TRUE(Eventually([&] {
    const auto now = rest_->Nodes();
    return now.ok() && std::ranges::all_of(*now, &NodeRecord::is_usable);
  }));
  ExpectSame();
}

TEST_F(SameHistoryTest, OfRefusals) {
  const auto expect_refused = [&](const BatchJob& job, const std::string& words) {
    const auto refused = StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(words));
    EXPECT_THAT(commands_->Submit(job), refused);
    EXPECT_THAT(rest_->Submit(job), refused);
  };
  BatchJob job = Job("refused", "true");
  job.site.partition = "nope";
  expect_refused(job, "nvalid partition name specified");
  expect_refused(Job("refused", "true", {{.gpus = 9}}),
                 "Requested node configuration is not available");
  expect_refused(Job("refused", "true", {{}, {.gpus = 1, .gpu_type = "a100"}}),
                 "Requested node configuration is not available");
  job = Job("refused", "true");
  job.site.reservation = "nope";
  expect_refused(job, "Requested reservation is invalid");
  ExpectSame();
}

// More tasks than the partition has nodes for: the cluster takes it, and it waits for ever.
TEST_F(SameHistoryTest, OfJobsThatNeverFit) {
  for (Slurm* by : {commands_.get(), rest_.get()}) {
    const std::string who = by == rest_.get() ? "rest" : "commands";
    const auto never = by->Submit(Job("never-" + who, "true", {{.tasks = 100}}));
    ASSERT_THAT(never, IsOk());
    EXPECT_TRUE(Eventually([&] { return RecordOf(*never).reason == "PartitionConfig"; }))
        << RecordOf(*never).reason;
    ExpectSame();
    // scancel tries such a signal again for minutes.
    EXPECT_THAT(rest_->Stop(*never, Listener::kStep),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("can not be altered now")));
    EXPECT_THAT(by->Cancel(*never), IsOk());
    AwaitState(*never, JobState::kCancelled);
  }
}

TEST_F(SameHistoryTest, OfANodeWhoseDaemonIsKilled) {
  std::vector<std::int64_t> ids;
  for (Slurm* by : {commands_.get(), rest_.get()}) {
    const auto id = by->Submit(Job(fmt::format("lost-{}", ids.size()), "sleep 100", {{.cpus = 5}}));
    ASSERT_THAT(id, IsOk());
    AwaitState(*id, JobState::kRunning);
    ids.push_back(*id);
  }
  std::vector<std::string> nodes;
  for (const std::int64_t id : ids) nodes.push_back(RecordOf(id).nodes);
  for (const std::string& node : nodes) KillDaemon(node);
  for (const std::int64_t id : ids) AwaitState(id, JobState::kNodeFail);
  const std::vector<NodeRecord> lost = rest_->Nodes().value();
  for (const std::string& node : nodes) {
    EXPECT_FALSE(std::ranges::find(lost, node, &NodeRecord::name)->is_usable);
    test_cluster->Run("node", node);
  }
  EXPECT_TRUE(Eventually([&] {
    const auto now = rest_->Nodes();
    return now.ok() && std::ranges::all_of(*now, &NodeRecord::is_usable);
  }));
  ExpectSame();
}

TEST_F(SameHistoryTest, NothingIsKnownWithoutAController) {
  const BatchJob job = Job("lost", "true");
  const auto submitted = rest_->Submit(job);
  ASSERT_THAT(submitted, IsOk());
  AwaitState(*submitted, JobState::kCompleted);
  KillDaemon("controller");
  for (Slurm* by : {commands_.get(), rest_.get()}) {
    const auto unavailable = StatusIs(absl::StatusCode::kUnavailable);
    EXPECT_THAT(by->Jobs(), unavailable);
    EXPECT_THAT(by->Submit(job), unavailable);
    EXPECT_THAT(by->Cancel(*submitted), unavailable);
  }
  test_cluster->Run("controller");
  ExpectSame();
}

// slurmrestd lets its own user in, and root; jobs are its user's.
TEST_F(SameHistoryTest, OverASocketWithoutAToken) {
  fs::permissions(folder_, fs::perms::all);
  rest_ = NewSlurmRest({.url = test_cluster->Run("rest", "unix")});
  const auto good = rest_->Submit(Job("socket", "true"));
  ASSERT_THAT(good, IsOk());
  AwaitState(*good, JobState::kCompleted);
}

TEST_F(SameHistoryTest, NothingIsKnownWithoutAValidToken) {
  const auto jobs = [&] { return rest_->Jobs().status(); };
  EXPECT_THAT(jobs(), IsOk());
  WriteToken("SLURM_JWT=" + test_cluster->Run("token"));  // As scontrol prints it.
  EXPECT_THAT(jobs(), IsOk());
  WriteToken("eyJhbGciOiJIUzI1NiJ9.e30.wrong");
  EXPECT_THAT(jobs(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("token is not valid")));
  EXPECT_THAT(rest_->Submit(Job("untold", "true")), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(rest_->Cancel(1), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(rest_->Nodes(), StatusIs(absl::StatusCode::kUnavailable));
  const std::string expiring = test_cluster->Run("token", "1");
  WriteToken(expiring);
  EXPECT_TRUE(Eventually([&] { return absl::IsUnavailable(jobs()); }));
  EXPECT_THAT(std::string(jobs().message()), ::testing::Not(HasSubstr(expiring)));
  WriteToken(test_cluster->Run("token"));
  EXPECT_THAT(jobs(), IsOk());
  chmod(options_.token_file.c_str(), 0644);
  EXPECT_THAT(jobs(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("may be read by others")));
  fs::remove(options_.token_file);
  EXPECT_THAT(jobs(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot be read")));
  RestOptions none = options_;
  none.token_file.clear();
  EXPECT_THAT(NewSlurmRest(none)->Jobs(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("name a token_file")));
  RestOptions nowhere = none;
  nowhere.url = "unix:/nowhere/socket";
  EXPECT_THAT(NewSlurmRest(nowhere)->Jobs(), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace vernier::launch::slurm
