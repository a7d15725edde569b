#include "tests/launch/local_gang.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "src/jobs/layout.h"
#include "src/launch/gang/replica_records.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch::testing {
namespace {

using vernier::testing::IsOk;

}  // namespace

bool IsAlive(int pid) {
  const std::string stat = Slurp("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t state = stat.rfind(") ");
  return state != std::string::npos && stat[state + 2] != 'Z';
}

std::int64_t CountLines(std::string_view text) { return std::ranges::count(text, '\n'); }

LocalGangTest::LocalGangTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "vernier-launch-XXXXXX").string();
  root_ = mkdtemp(pattern.data());
  out_ = root_ + "/out";
  std::filesystem::create_directories(out_);
}

LocalGangTest::~LocalGangTest() {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
    if (entry.path().filename() != "supervisor.lock") continue;
    const std::string folder = entry.path().parent_path().string();
    if (!IsDown(Observe(folder))) KillReplica(VERNIER_SUPERVISOR, folder);
  }
  std::error_code error;
  std::filesystem::remove_all(root_, error);
}

std::unique_ptr<Launcher> LocalGangTest::NewLauncher(ProcessLauncherOptions options) const {
  options.runs_directory = root_ + "/runs";
  options.supervisor = VERNIER_SUPERVISOR;
  options.detect_gpus = false;
  options.control_group = control_group_;
  auto launcher = NewProcessLauncher(std::move(options), *clock_);
  EXPECT_THAT(launcher, IsOk());
  return *std::move(launcher);
}

AttemptId LocalGangTest::Attempt(std::int64_t trial) {
  return {{StudyId(1), TrialNumber(trial)}, AttemptNumber(1)};
}

GangRequest LocalGangTest::Request(std::int64_t trial, const std::vector<Script>& scripts) {
  GangRequest request{.id = Attempt(trial), .study = "digits"};
  for (const Script& script : scripts) {
    request.replicas.push_back(
        {.role = script.role, .index = script.index, .resources = script.resources});
  }
  return request;
}

GangProgram LocalGangTest::Program(std::int64_t trial,
                                   const std::vector<Script>& scripts,
                                   PlacedGang placed) const {
  GangProgram gang{.id = Attempt(trial),
                   .placed = std::move(placed),
                   .time_limit = time_limit_,
                   .restarts = restarts_,
                   .grace = grace_,
                   .output_bytes = output_bytes_};
  for (const Script& script : scripts) {
    gang.replicas.push_back({.role = script.role,
                             .index = script.index,
                             .argv = {"/bin/sh", "-c", script.text},
                             .env = {{"OUT", out_}},
                             .directory = out_});
  }
  return gang;
}

GangProgram LocalGangTest::Launch(Launcher& launcher,
                                  std::int64_t trial,
                                  const std::vector<Script>& scripts) {
  const auto placed = launcher.Place(Request(trial, scripts));
  EXPECT_THAT(placed, IsOk());
  GangProgram gang = Program(trial, scripts, placed.value_or(PlacedGang()));
  EXPECT_THAT(launcher.Start(gang), IsOk());
  return gang;
}

GangStatus LocalGangTest::Await(Launcher& launcher,
                                std::int64_t trial,
                                absl::Duration patience) const {
  GangStatus status;
  EXPECT_TRUE(Eventually(
      [&] {
        const auto checked = launcher.Check(Attempt(trial));
        EXPECT_THAT(checked, IsOk());
        if (!checked.ok()) return true;
        status = *checked;
        return IsEnded(status.state);
      },
      patience));
  return status;
}

void LocalGangTest::AwaitRunning(Launcher& launcher, std::int64_t trial) const {
  EXPECT_TRUE(Eventually([&] {
    const auto checked = launcher.Check(Attempt(trial));
    return !checked.ok() || checked->state != AttemptState::kStarting;
  }));
  ASSERT_OK_AND_ASSIGN(const GangStatus status, launcher.Check(Attempt(trial)));
  EXPECT_EQ(AttemptStateName(status.state), AttemptStateName(AttemptState::kRunning));
}

std::string LocalGangTest::Folder(const GangProgram& gang, std::size_t i) {
  return jobs::ReplicaDirectory(
      gang.placed.directory, gang.replicas[i].role, gang.replicas[i].index);
}

}  // namespace vernier::launch::testing
