#include "src/launch/python/python_launcher.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/jobs/reproduction.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using testing::Eventually;
using ::testing::HasSubstr;
using testing::LocalGangTest;
using testing::Slurp;
using ::testing::StartsWith;
using vernier::testing::IsOk;
using vernier::testing::StatusIs;

constexpr char kPython[] = "/usr/bin/python3";
constexpr absl::Duration kInstalling = absl::Seconds(120);

// Gangs of one chief that runs `python3 -m trainer.task`, whose package and what it needs come from a folder of wheels.
class PythonLauncherTest : public LocalGangTest {
 protected:
  void MakeWheel(const std::string& name,
                 const std::string& text,
                 const std::string& requirement = "") const {
    std::string command = fmt::format("{} {}/tests/launch/make_wheel.py {} {} 1.0 {}",
                                      kPython,
                                      VERNIER_SOURCE,
                                      jobs::ShellQuote(Wheels()),
                                      name,
                                      jobs::ShellQuote(text));
    if (!requirement.empty()) command += " " + jobs::ShellQuote(requirement);
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  std::string Wheels() const { return Out("wheels"); }
  std::string Environments() const { return Out("environments"); }

  std::unique_ptr<Launcher> NewPython(const std::string& python = kPython) const {
    return NewPythonLauncher(NewLauncher(),
                             {.environments_directory = Environments(),
                              .supervisor = VERNIER_SUPERVISOR,
                              .runtimes = {{"default", {.python = python, .wheels = Wheels()}}}},
                             *clock_);
  }

  GangProgram Train(Launcher& launcher,
                    std::int64_t trial,
                    std::vector<std::string> packages,
                    const std::string& module = "trainer.task") {
    const auto placed = launcher.Place(Request(trial, {{"chief", 0, ""}}));
    EXPECT_THAT(placed, IsOk());
    GangProgram gang = Program(trial, {{"chief", 0, ""}}, placed.value_or(PlacedGang()));
    gang.replicas.front().argv = {"python3", "-m", module};
    gang.replicas.front().runs_python = true;
    gang.python = PythonProgram{.module = module, .packages = std::move(packages)};
    EXPECT_THAT(launcher.Start(gang), IsOk());
    return gang;
  }

  std::size_t CountEnvironments() const {
    std::error_code error;
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(Environments(), error)) {
      ++count;
    }
    return count;
  }
};

constexpr char kTask[] =
    "import os, sys, helper.task\n"
    "with open(os.environ['OUT'] + '/said', 'a') as file:\n"
    "    file.write(helper.task.WORD + ' ' + os.path.basename(sys.executable) + '\\n')\n";

TEST_F(PythonLauncherTest, InstallsPackagesWithWhatTheyNeedOnce) {
  MakeWheel("helper", "WORD = 'hello'\n");
  MakeWheel("trainer", kTask, "helper>=1.0");
  const auto launcher = NewPython();
  Train(*launcher, 1, {"trainer"});
  ASSERT_OK_AND_ASSIGN(const GangStatus before, launcher->Check(Attempt(1)));
  EXPECT_EQ(AttemptStateName(before.state), AttemptStateName(AttemptState::kStarting));
  Train(*launcher, 2, {"trainer"});
  EXPECT_EQ(Await(*launcher, 1, kInstalling).state, AttemptState::kSucceeded);
  EXPECT_EQ(Await(*launcher, 2, kInstalling).state, AttemptState::kSucceeded);
  EXPECT_EQ(Slurp(Out("said")), "hello python\nhello python\n");
  EXPECT_EQ(CountEnvironments(), 1u);
}

TEST_F(PythonLauncherTest, TellsChangedPackagesFromUnchangedOnes) {
  MakeWheel("helper", "WORD = 'hello'\n");
  MakeWheel("trainer", kTask, "helper");
  const std::string wheel = Wheels() + "/trainer-1.0-py3-none-any.whl";
  const auto launcher = NewPython();
  Train(*launcher, 1, {wheel});
  Await(*launcher, 1, kInstalling);
  MakeWheel("trainer", std::string(kTask) + "    file.write('again\\n')\n", "helper");
  Train(*launcher, 2, {wheel});
  EXPECT_EQ(Await(*launcher, 2, kInstalling).state, AttemptState::kSucceeded);
  EXPECT_EQ(Slurp(Out("said")), "hello python\nhello python\nagain\n");
  EXPECT_EQ(CountEnvironments(), 2u);
}

TEST_F(PythonLauncherTest, FailsAGangWhosePackagesCannotBeInstalled) {
  MakeWheel("trainer", kTask, "no-such-helper");
  const auto launcher = NewPython();
  Train(*launcher, 1, {"trainer"});
  const GangStatus status = Await(*launcher, 1, kInstalling);
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_EQ(FailureClassName(status.failure), FailureClassName(FailureClass::kUserError));
  EXPECT_THAT(status.message, HasSubstr("the packages trainer could not be installed: "));
  EXPECT_THAT(status.message, HasSubstr("no-such-helper"));
  EXPECT_THAT(launcher->Release(Attempt(1)), IsOk());
}

TEST_F(PythonLauncherTest, InstallsAnewWhatFailedBefore) {
  MakeWheel("trainer", kTask, "helper");
  const auto launcher = NewPython();
  Train(*launcher, 1, {"trainer"});
  EXPECT_EQ(Await(*launcher, 1, kInstalling).state, AttemptState::kFailed);
  MakeWheel("helper", "WORD = 'mended'\n");
  Train(*launcher, 2, {"trainer"});
  EXPECT_EQ(Await(*launcher, 2, kInstalling).state, AttemptState::kSucceeded);
  EXPECT_EQ(Slurp(Out("said")), "mended python\n");
}

TEST_F(PythonLauncherTest, FailsAGangWhosePackageIsNotThere) {
  const auto launcher = NewPython();
  Train(*launcher, 1, {"./trainer.tar.gz"});
  const GangStatus status = Await(*launcher, 1);
  EXPECT_EQ(status.state, AttemptState::kFailed);
  EXPECT_THAT(status.message, HasSubstr("trainer.tar.gz' is not there"));
}

TEST_F(PythonLauncherTest, StopsAGangWhosePackagesAreBeingInstalled) {
  std::ofstream(Out("slow")) << "#!/bin/sh\nexec sleep 1000\n";
  fs::permissions(Out("slow"), fs::perms::owner_all);
  const auto launcher = NewPython(Out("slow"));
  Train(*launcher, 1, {"trainer"});
  EXPECT_THAT(launcher->Stop(Attempt(1)), IsOk());
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kStopped);
}

TEST_F(PythonLauncherTest, GoesOnAfterARestartWithWhatIsBeingInstalled) {
  MakeWheel("helper", "WORD = 'hello'\n");
  MakeWheel("trainer", kTask, "helper");
  auto launcher = NewPython();
  const GangProgram gang = Train(*launcher, 1, {"trainer"});
  launcher = NewPython();
  EXPECT_THAT(launcher->Adopt(Request(1, {{"chief", 0, ""}}), gang.placed),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(launcher->Start(gang), IsOk());
  EXPECT_EQ(Await(*launcher, 1, kInstalling).state, AttemptState::kSucceeded);
  EXPECT_EQ(CountEnvironments(), 1u);
}

TEST_F(PythonLauncherTest, TakesAPackageAsAFolder) {
  if (std::system("/usr/bin/python3 -c 'import setuptools, wheel'") != 0) {
    GTEST_SKIP() << "python3 has no setuptools and wheel";
  }
  fs::create_directories(Out("source/trainer"));
  std::ofstream(Out("source/setup.py"))
      << "from setuptools import setup\nsetup(name='trainer', version='2', packages=['trainer'])\n";
  std::ofstream(Out("source/trainer/__init__.py"));
  std::ofstream(Out("source/trainer/task.py"))
      << "import os\nopen(os.environ['OUT'] + '/said', 'w').write('from a folder')\n";
  const auto launcher = NewPython();
  Train(*launcher, 1, {"source"});
  const GangStatus status = Await(*launcher, 1, kInstalling);
  EXPECT_EQ(status.state, AttemptState::kSucceeded) << status.message;
  EXPECT_EQ(Slurp(Out("said")), "from a folder");
}

TEST_F(PythonLauncherTest, RunsAModuleWithoutPackagesAtOnce) {
  fs::create_directories(Out("trainer"));
  std::ofstream(Out("trainer/task.py"))
      << "import os\nopen(os.environ['OUT'] + '/said', 'w').write('from here')\n";
  const auto launcher = NewPython();
  Train(*launcher, 1, {});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  EXPECT_EQ(Slurp(Out("said")), "from here");
  EXPECT_EQ(CountEnvironments(), 0u);
}

TEST_F(PythonLauncherTest, RunsATrainerThatItBringsWithItAndTellsWhyThatGaveUp) {
  const auto launcher = NewPython();
  for (const std::int64_t trial : {1, 2}) {
    Train(*launcher, trial, {}, "vernier_trainers.linear_learner");
    const GangStatus status = Await(*launcher, trial);
    EXPECT_EQ(FailureClassName(status.failure), FailureClassName(FailureClass::kUserError));
    EXPECT_THAT(status.message,
                StartsWith("the following arguments are required: --training_data_path, "
                           "--model_type. The replica chief 0 exited"));
  }
  EXPECT_EQ(CountEnvironments(), 1u);  // Both have the same folder of trainers.
}

TEST_F(PythonLauncherTest, RunsATrainerBesidePackagesOfTheJob) {
  MakeWheel("helper", "WORD = 'unused'\n");
  const auto launcher = NewPython();
  Train(*launcher, 1, {"helper"}, "vernier_trainers.linear_learner");
  EXPECT_THAT(Await(*launcher, 1, kInstalling).message, HasSubstr("--training_data_path"));
}

TEST_F(PythonLauncherTest, InstallsBeforeAGangIsPlaced) {
  MakeWheel("helper", "WORD = 'hello'\n");
  MakeWheel("trainer", kTask, "helper");
  const auto launcher = NewPython();
  GangRequest request = Request(1, {{"chief", 0, ""}});
  request.needs.python = PythonProgram{.module = "trainer.task", .packages = {"trainer"}};
  EXPECT_THAT(launcher->Prepare(request),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("installing its packages")));
  const std::vector<QueuedGang> queue = launcher->Queue();
  ASSERT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue[0].needs, "trainer");
  EXPECT_THAT(queue[0].reason, StartsWith("installing its packages"));
  ASSERT_TRUE(Eventually([&] { return launcher->Prepare(request).ok(); }, kInstalling));
  EXPECT_TRUE(launcher->Queue().empty());
  const GangProgram gang = Train(*launcher, 1, {"trainer"});
  EXPECT_EQ(Await(*launcher, 1).state, AttemptState::kSucceeded);
  // What pip said is in the log of the gang that waited for it, and of no other.
  EXPECT_THAT(Slurp(gang.placed.directory + "/service-0/output.log"),
              HasSubstr("Successfully installed"));
  const GangProgram next = Train(*launcher, 2, {"trainer"});
  EXPECT_EQ(Await(*launcher, 2).state, AttemptState::kSucceeded);
  EXPECT_FALSE(fs::exists(next.placed.directory + "/service-0"));
}

TEST_F(PythonLauncherTest, RefusesAGangWhosePackagesCannotBeInstalled) {
  MakeWheel("trainer", kTask, "no-such-helper");
  const auto launcher = NewPython();
  GangRequest request = Request(1, {{"chief", 0, ""}});
  request.needs.python = PythonProgram{.module = "trainer.task", .packages = {"trainer"}};
  absl::Status status;
  ASSERT_TRUE(Eventually(
      [&] {
        status = launcher->Prepare(request);
        return !absl::IsUnavailable(status);
      },
      kInstalling));
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the packages trainer could not be installed: ")));
  EXPECT_TRUE(launcher->Queue().empty());
  request.needs.python->packages = {"./trainer.tar.gz"};
  request.id = Attempt(2);
  EXPECT_THAT(launcher->Prepare(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not there")));
}

TEST_F(PythonLauncherTest, OneThatIsReleasedLeavesTheQueue) {
  std::ofstream(Out("slow")) << "#!/bin/sh\nexec sleep 1000\n";
  fs::permissions(Out("slow"), fs::perms::owner_all);
  const auto launcher = NewPython(Out("slow"));
  GangRequest request = Request(1, {{"chief", 0, ""}});
  request.needs.python = PythonProgram{.module = "trainer.task", .packages = {"trainer"}};
  EXPECT_THAT(launcher->Prepare(request), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(launcher->Release(request.id), IsOk());
  EXPECT_TRUE(launcher->Queue().empty());
}

}  // namespace
}  // namespace vernier::launch
