#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "src/launch/local/process_launcher.h"
#include "tests/support/eventually.h"
#include "tests/support/slurp.h"
#include "vernier/core/clock.h"
#include "vernier/launcher.h"

// Gangs of small programs under the real local launcher and the real supervisor.
namespace vernier::launch::testing {

// A replica whose program is a shell script. `$OUT` is a folder that the whole gang shares, empty at first.
struct Script {
  std::string role;
  std::int32_t index = 0;
  std::string text;
  Resources resources = {.cpus = 0.1};
};

using vernier::testing::Eventually;
using vernier::testing::kPatience;
using vernier::testing::Slurp;

// The text of a program that does not end by itself.
inline constexpr char kForever[] = "exec sleep 1000";

// Whether the process runs. One that has ended may wait for its parent to notice; it does not run.
bool IsAlive(int pid);

// How many lines it has.
std::int64_t CountLines(std::string_view text);

class LocalGangTest : public ::testing::Test {
 protected:
  LocalGangTest();
  ~LocalGangTest() override;  // Leaves nothing running.

  // A launcher over the test's runs folder, as another process would make it.
  std::unique_ptr<Launcher> NewLauncher(ProcessLauncherOptions options = {}) const;

  static AttemptId Attempt(std::int64_t trial);
  static GangRequest Request(std::int64_t trial, const std::vector<Script>& scripts);
  GangProgram Program(std::int64_t trial,
                      const std::vector<Script>& scripts,
                      PlacedGang placed) const;

  // Places and starts the gang of a trial.
  GangProgram Launch(Launcher& launcher, std::int64_t trial, const std::vector<Script>& scripts);
  // The status once the gang has ended. A test that gets none fails.
  GangStatus Await(Launcher& launcher,
                   std::int64_t trial,
                   absl::Duration patience = kPatience) const;
  // Until the primary runs.
  void AwaitRunning(Launcher& launcher, std::int64_t trial) const;

  // A file of the folder that the scripts know as $OUT.
  std::string Out(const std::string& file) const { return out_ + "/" + file; }
  // The folder of a replica of a gang.
  static std::string Folder(const GangProgram& gang, std::size_t i);

  absl::Duration grace_ = absl::Seconds(5);
  std::optional<absl::Duration> time_limit_;
  RestartPolicy restarts_;
  std::int64_t output_bytes_ = std::int64_t{256} << 20;
  // Of the launchers: a tenth of a CPU is little to start a program with, so only tests of limits have them.
  std::string control_group_ = "none";
  const std::unique_ptr<Clock> clock_ = NewRealClock();

 private:
  std::string root_;
  std::string out_;
};

}  // namespace vernier::launch::testing
