#include "tests/contract/launcher_contract.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <utility>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "src/jobs/layout.h"
#include "tests/support/eventually.h"
#include "tests/support/slurp.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"

namespace vernier::testing {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LauncherContractTest);

namespace {

constexpr absl::Duration kGrace = absl::Seconds(5);

}  // namespace

void LauncherContractTest::SetUp() {
  world_ = GetParam().make();
  launcher_ = world_->NewLauncher();
}

LauncherContractTest::Script LauncherContractTest::Waits(const std::string& role,
                                                         std::int32_t index) {
  return {role,
          index,
          fmt::format("echo {0} >> $OUT/up-{0}-{1}; until [ -e $OUT/go ]; do sleep 0.05; done; "
                      "echo {0} >> $OUT/ran",
                      role,
                      index)};
}

std::vector<LauncherContractTest::Script> LauncherContractTest::Everything() const {
  std::vector<Script> scripts = {Waits("chief")};
  while (std::ssize(scripts) < world_->room()) {
    scripts.push_back(Waits("worker", static_cast<std::int32_t>(scripts.size()) - 1));
  }
  return scripts;
}

void LauncherContractTest::Go() const { std::ofstream(world_->out() + "/go") << ""; }

AttemptId LauncherContractTest::Attempt(std::int64_t trial) {
  // Tests of one process may share a cluster: each has a study of its own.
  static std::map<std::string, std::int64_t> studies;
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto [at, is_new] = studies.try_emplace(test->name(), std::ssize(studies) + 1);
  return {{StudyId(at->second), TrialNumber(trial)}, AttemptNumber(1)};
}

GangRequest LauncherContractTest::Request(const std::vector<Script>& scripts,
                                          std::int64_t trial) const {
  GangRequest request{.id = Attempt(trial)};
  request.study = fmt::format("contract-{}", request.id.trial.study.value());
  for (const Script& script : scripts) {
    request.replicas.push_back(
        {.role = script.role, .index = script.index, .resources = world_->resources()});
  }
  return request;
}

GangProgram LauncherContractTest::Program(const std::vector<Script>& scripts,
                                          const PlacedGang& placed,
                                          std::int64_t trial) const {
  GangProgram gang{.id = Attempt(trial), .placed = placed, .grace = kGrace};
  gang.restarts = {.reading = FailureReading::kStrict, .replica = 0};
  for (const Script& script : scripts) {
    const std::string folder = jobs::ReplicaDirectory(placed.directory, script.role, script.index);
    gang.replicas.push_back({.role = script.role,
                             .index = script.index,
                             .argv = {"/bin/sh", "-c", script.text},
                             .env = {{"OUT", world_->out()}},
                             .directory = world_->out(),
                             .log_file = folder + "/output.log"});
    world_->Adapt(gang.replicas.back());
  }
  return gang;
}

PlacedGang LauncherContractTest::Launch(const std::vector<Script>& scripts, std::int64_t trial) {
  const auto placed = launcher_->Place(Request(scripts, trial));
  EXPECT_THAT(placed, IsOk());
  if (!placed.ok()) return {};
  EXPECT_THAT(launcher_->Start(Program(scripts, *placed, trial)), IsOk());
  return *placed;
}

bool LauncherContractTest::Eventually(const std::function<bool()>& condition) {
  return vernier::testing::Eventually([&] {
    if (condition()) return true;
    world_->Advance();
    return false;
  });
}

GangStatus LauncherContractTest::AwaitThat(const std::function<bool(const GangStatus&)>& is_reached,
                                           std::int64_t trial) {
  GangStatus status;
  EXPECT_TRUE(Eventually([&] {
    const auto checked = launcher_->Check(Attempt(trial));
    EXPECT_THAT(checked, IsOk());
    if (!checked.ok()) return true;
    status = *checked;
    return is_reached(status);
  })) << AttemptStateName(status.state)
      << ": " << status.message;
  return status;
}

GangStatus LauncherContractTest::AwaitEnd(std::int64_t trial) {
  return AwaitThat([](const GangStatus& status) { return IsEnded(status.state); }, trial);
}

void LauncherContractTest::ExpectStops(std::int64_t trial) {
  EXPECT_THAT(launcher_->Stop(Attempt(trial)), IsOk());
  EXPECT_EQ(AwaitEnd(trial).state, AttemptState::kStopped);
}

void LauncherContractTest::AwaitUp(const Script& script) {
  if (!world_->is_real()) {
    AwaitThat([](const GangStatus& status) { return status.state == AttemptState::kRunning; });
    return;
  }
  // Check is what makes some launchers look.
  EXPECT_TRUE(Eventually([&] {
    EXPECT_THAT(launcher_->Check(Attempt()), IsOk());
    return Exists(fmt::format("up-{}-{}", script.role, script.index));
  })) << script.role
      << " " << script.index << " does not begin";
}

bool LauncherContractTest::IsQueued(std::int64_t trial) {
  return std::ranges::any_of(launcher_->Queue(), [&](const QueuedGang& gang) {
    return gang.id == Attempt(trial) && !gang.reason.empty();
  });
}

bool LauncherContractTest::Exists(const std::string& file) const {
  return fs::exists(world_->out() + "/" + file);
}

std::string LauncherContractTest::Read(const std::string& file) const {
  return Slurp(world_->out() + "/" + file);
}

TEST_P(LauncherContractTest, KnowsNothingOfAnAttemptThatItWasNotGiven) {
  EXPECT_THAT(launcher_->Check(Attempt()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher_->Stop(Attempt()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher_->Start(Program({Waits("chief")}, {.directory = "/nowhere"})),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
}

TEST_P(LauncherContractTest, RefusesAGangThatNeverFits) {
  EXPECT_THAT(launcher_->CheckFits(Request(Everything())), IsOk());
  if (!world_->knows_what_fits()) GTEST_SKIP() << "it shows only when a gang is started";
  GangRequest huge = Request({Waits("chief"), Waits("worker")});
  huge.replicas.back().resources = world_->too_much();
  for (int i = 1; i <= world_->room(); ++i) {
    huge.replicas.push_back(huge.replicas.back());
    ++huge.replicas.back().index;
  }
  const absl::Status refused = launcher_->CheckFits(huge);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("\n")));
  EXPECT_FALSE(refused.message().empty());
}

TEST_P(LauncherContractTest, PlacesEveryReplicaInTheOrderOfTheRequest) {
  const GangRequest request = Request(Everything());
  const auto placed = launcher_->Place(request);
  ASSERT_THAT(placed, IsOk());
  ASSERT_EQ(placed->placement.size(), request.replicas.size());
  for (std::size_t i = 0; i < request.replicas.size(); ++i) {
    EXPECT_EQ(placed->placement[i].role, request.replicas[i].role);
    EXPECT_EQ(placed->placement[i].index, request.replicas[i].index);
  }
  EXPECT_TRUE(placed->directory.starts_with('/')) << placed->directory;
  EXPECT_EQ(launcher_->Check(request.id)->state, AttemptState::kPlaced);
  EXPECT_THAT(launcher_->Place(request), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(LauncherContractTest, RunsAGangToItsEnd) {
  const std::vector<Script> scripts = {Waits("chief"), Waits("worker")};
  Launch(scripts);
  for (const Script& script : scripts) AwaitUp(script);
  EXPECT_EQ(AwaitThat([](const auto& now) { return now.state == AttemptState::kRunning; }).state,
            AttemptState::kRunning);
  Go();
  const GangStatus status = AwaitEnd();
  EXPECT_EQ(status.state, AttemptState::kSucceeded) << status.message;
  EXPECT_EQ(status.failure, FailureClass::kNone);
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);  // For good.
  // An ended gang cannot be stopped any more.
  EXPECT_THAT(launcher_->Stop(Attempt()), IsOk());
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
  EXPECT_THAT(launcher_->Check(Attempt()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(LauncherContractTest, StartsAGangOnce) {
  const std::vector<Script> scripts = {Waits("chief")};
  const PlacedGang placed = Launch(scripts);
  EXPECT_THAT(launcher_->Start(Program(scripts, placed)), IsOk());
  AwaitUp(scripts[0]);
  EXPECT_THAT(launcher_->Start(Program(scripts, placed)), IsOk());
  Go();
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);
  EXPECT_THAT(launcher_->Start(Program(scripts, placed)), IsOk());
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);
  if (world_->is_real()) {
    EXPECT_EQ(Read("up-chief-0"), "chief\n");
    EXPECT_EQ(Read("ran"), "chief\n");
  }
}

TEST_P(LauncherContractTest, StopsEveryReplica) {
  const std::vector<Script> scripts = Everything();
  Launch(scripts);
  for (const Script& script : scripts) AwaitUp(script);
  EXPECT_THAT(launcher_->Release(Attempt()), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(launcher_->Stop(Attempt()), IsOk());
  ExpectStops();
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
  Go();  // Nobody is left who would see it.
  EXPECT_FALSE(Exists("ran"));
}

TEST_P(LauncherContractTest, AGangThatIsStoppedBeforeItsStartNeverRuns) {
  const std::vector<Script> scripts = {Waits("chief"), Waits("worker")};
  Go();
  const auto placed = launcher_->Place(Request(scripts));
  ASSERT_THAT(placed, IsOk());
  EXPECT_THAT(launcher_->Stop(Attempt()), IsOk());
  EXPECT_THAT(launcher_->Start(Program(scripts, *placed)), IsOk());
  EXPECT_EQ(AwaitEnd().state, AttemptState::kStopped);
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
  EXPECT_FALSE(Exists("ran"));
}

TEST_P(LauncherContractTest, RoomIsFreeAgainOnceAGangIsReleased) {
  const std::vector<Script> scripts = Everything();
  Launch(scripts);
  for (const Script& script : scripts) AwaitUp(script);
  const std::vector<Script> second = {{"chief", 0, "echo second >> $OUT/second"}};
  if (world_->has_own_queue()) {
    Launch(second, 2);
    EXPECT_TRUE(Eventually([&] {
      EXPECT_EQ(launcher_->Check(Attempt(2))->state, AttemptState::kStarting);
      return IsQueued(2);
    }));
  } else {
    const auto placed = launcher_->Place(Request(second, 2));
    EXPECT_THAT(placed, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_FALSE(placed.status().message().empty());
  }
  EXPECT_FALSE(Exists("second"));
  ExpectStops();
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
  Go();
  if (!world_->has_own_queue()) {
    EXPECT_TRUE(Eventually([&] {
      const auto placed = launcher_->Place(Request(second, 2));
      if (!placed.ok()) return false;
      EXPECT_THAT(launcher_->Start(Program(second, *placed, 2)), IsOk());
      return true;
    }));
  }
  EXPECT_EQ(AwaitEnd(2).state, AttemptState::kSucceeded);
  EXPECT_FALSE(IsQueued(1));
  EXPECT_FALSE(IsQueued(2));
}

TEST_P(LauncherContractTest, WhatWasOnlyPlacedIsReleased) {
  const std::vector<Script> scripts = Everything();
  ASSERT_THAT(launcher_->Place(Request(scripts)), IsOk());
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
  EXPECT_THAT(launcher_->Check(Attempt()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher_->Place(Request(scripts, 2)), IsOk());
}

TEST_P(LauncherContractTest, AWaitingGangLeavesTheQueueWhenItIsReleased) {
  const std::vector<Script> scripts = Everything();
  Launch(scripts);
  for (const Script& script : scripts) AwaitUp(script);
  const std::vector<Script> second = {{"chief", 0, "echo second >> $OUT/second"}};
  if (world_->has_own_queue()) {
    Launch(second, 2);
    ExpectStops(2);
  } else {
    EXPECT_THAT(launcher_->Place(Request(second, 2)),
                StatusIs(absl::StatusCode::kResourceExhausted));
  }
  EXPECT_THAT(launcher_->Release(Attempt(2)), IsOk());
  EXPECT_FALSE(IsQueued(2));
  ExpectStops();
  EXPECT_FALSE(Exists("second"));
}

TEST_P(LauncherContractTest, TellsWhenToLookIfItSaysSo) {
  std::atomic<int> told = 0;
  launcher_ = world_->NewLauncher();
  if (!launcher_->Watch([&](const AttemptId&) { ++told; })) return;
  Launch({Waits("chief")});
  AwaitUp(Waits("chief"));
  told = 0;
  Go();
  // Nobody calls Check meanwhile.
  EXPECT_TRUE(Eventually([&] { return told > 0; }));
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);
  launcher_->Watch({});
  told = 0;
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
  EXPECT_EQ(told, 0);
}

TEST_P(LauncherContractTest, AReplicaThatFailsEndsTheGangAndIsNamed) {
  if (!world_->is_real()) GTEST_SKIP() << "its programs never fail";
  Launch({{"chief", 0, "echo no such data >&2; exit 3"}, Waits("worker")});
  const GangStatus status = AwaitEnd();
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_EQ(status.failure, FailureClass::kUserError);
  EXPECT_FALSE(status.transient);
  EXPECT_THAT(status.message, HasSubstr("chief 0"));
  EXPECT_THAT(status.message, HasSubstr("no such data"));
  ASSERT_EQ(status.replicas.size(), 2U);
  EXPECT_EQ(status.replicas[0].exit_code, 3);
  EXPECT_FALSE(Exists("ran"));
}

TEST_P(LauncherContractTest, AnotherProcessTakesAGangBack) {
  if (!world_->is_real()) GTEST_SKIP() << "its gangs end with the process";
  const std::vector<Script> scripts = {Waits("chief"), Waits("worker")};
  const PlacedGang placed = Launch(scripts);
  for (const Script& script : scripts) AwaitUp(script);
  launcher_ = world_->NewLauncher();
  EXPECT_THAT(launcher_->Check(Attempt()), StatusIs(absl::StatusCode::kNotFound));
  const auto adopted = launcher_->Adopt(Request(scripts), placed);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_FALSE(IsEnded(adopted->state));
  EXPECT_THAT(launcher_->Start(Program(scripts, placed)), IsOk());
  Go();
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);
  EXPECT_EQ(Read("up-chief-0"), "chief\n");
}

TEST_P(LauncherContractTest, AnotherProcessHearsOfAnEndMeanwhile) {
  if (!world_->is_real()) GTEST_SKIP() << "its gangs end with the process";
  const std::vector<Script> scripts = {Waits("chief")};
  const PlacedGang placed = Launch(scripts);
  AwaitUp(scripts[0]);
  launcher_.reset();
  Go();
  ASSERT_TRUE(Eventually([&] { return Exists("ran"); }));
  launcher_ = world_->NewLauncher();
  ASSERT_THAT(launcher_->Adopt(Request(scripts), placed), IsOk());
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);
  EXPECT_THAT(launcher_->Release(Attempt()), IsOk());
}

TEST_P(LauncherContractTest, AnotherProcessStartsWhatWasOnlyPlaced) {
  if (!world_->is_real()) GTEST_SKIP() << "its gangs end with the process";
  const std::vector<Script> scripts = {Waits("chief"), Waits("worker")};
  const auto placed = launcher_->Place(Request(scripts));
  ASSERT_THAT(placed, IsOk());
  launcher_ = world_->NewLauncher();
  EXPECT_THAT(launcher_->Adopt(Request(scripts), *placed), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher_->Start(Program(scripts, *placed)), IsOk());
  Go();
  EXPECT_EQ(AwaitEnd().state, AttemptState::kSucceeded);
}

TEST_P(LauncherContractTest, StopsAProgramThatDoesNotListen) {
  if (!world_->is_real()) GTEST_SKIP() << "its programs always listen";
  const std::vector<Script> deaf = {
      {"chief", 0, "trap '' TERM; touch $OUT/up-chief-0; while :; do sleep 0.05; done"}};
  const auto placed = launcher_->Place(Request(deaf));
  ASSERT_THAT(placed, IsOk());
  GangProgram gang = Program(deaf, *placed);
  gang.grace = absl::Milliseconds(300);
  ASSERT_THAT(launcher_->Start(gang), IsOk());
  AwaitUp(deaf[0]);
  ExpectStops();
}

}  // namespace vernier::testing
