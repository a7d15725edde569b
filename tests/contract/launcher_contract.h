#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "vernier/launcher.h"

// The promises of vernier::Launcher, held by every implementation. Add launcher_contract.cc to the sources of a test, and
// instantiate LauncherContractTest there with the worlds that it knows.
namespace vernier::testing {

// A place where gangs run, for one test.
class LauncherWorld {
 public:
  virtual ~LauncherWorld() = default;

  // The launcher as another process over the same files would make it.
  virtual std::unique_ptr<Launcher> NewLauncher() = 0;
  // Folder that all replicas share: $OUT of their scripts. Absolute, and empty at first.
  virtual std::string out() const = 0;
  // Number of replicas that fill the place. Each asks for `resources()`.
  virtual std::int32_t room() const = 0;
  virtual Resources resources() const = 0;
  // Resources of a replica that never fits.
  virtual Resources too_much() const = 0;
  // Changes a program that runs `script` by sh into what this place runs.
  virtual void Adapt(ReplicaProgram& /*program*/) const {}
  // Lets the programs go on, where they do not by themselves.
  virtual void Advance() {}

  // Place always succeeds at once: the cluster has the queue, and a waiting gang is STARTING.
  virtual bool has_own_queue() const { return false; }
  // CheckFits knows what never fits. False: it shows only when a gang is started.
  virtual bool knows_what_fits() const { return true; }
  // Gangs outlive the launcher, and programs are what their scripts say. False: a place within the process, whose programs
  // end well once $OUT/go exists.
  virtual bool is_real() const { return true; }
};

struct LauncherCase {
  std::string name;
  std::function<std::unique_ptr<LauncherWorld>()> make;
  friend void PrintTo(const LauncherCase& tested, std::ostream* out) { *out << tested.name; }
};

class LauncherContractTest : public ::testing::TestWithParam<LauncherCase> {
 protected:
  struct Script {
    std::string role;
    std::int32_t index = 0;
    std::string text;
  };

  void SetUp() override;

  // Ends well once $OUT/go exists; says in $OUT/up-ROLE-INDEX that it has begun, and adds a line to $OUT/ran at its end.
  static Script Waits(const std::string& role, std::int32_t index = 0);
  // As many of them as fill the place.
  std::vector<Script> Everything() const;
  void Go() const;  // Makes $OUT/go.

  static AttemptId Attempt(std::int64_t trial = 1);
  GangRequest Request(const std::vector<Script>& scripts, std::int64_t trial = 1) const;
  GangProgram Program(const std::vector<Script>& scripts,
                      const PlacedGang& placed,
                      std::int64_t trial = 1) const;
  PlacedGang Launch(const std::vector<Script>& scripts, std::int64_t trial = 1);
  bool Eventually(const std::function<bool()>& condition);
  // The status once `is_reached` holds of it; the last one if that does not come to pass, and the test fails.
  GangStatus AwaitThat(const std::function<bool(const GangStatus&)>& is_reached,
                       std::int64_t trial = 1);
  GangStatus AwaitEnd(std::int64_t trial = 1);
  void ExpectStops(std::int64_t trial = 1);
  void AwaitUp(const Script& script);
  bool IsQueued(std::int64_t trial);  // With a reason.
  bool Exists(const std::string& file) const;
  std::string Read(const std::string& file) const;

  std::unique_ptr<LauncherWorld> world_;
  std::unique_ptr<Launcher> launcher_;
};

}  // namespace vernier::testing
