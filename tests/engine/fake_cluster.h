#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vernier/engine.h"
#include "vernier/launcher.h"

namespace vernier::testing {

// What a fake job does: reports these values of the objective, one per turn, then ends like this.
struct Script {
  std::vector<double> values = {0.5};
  AttemptState end = AttemptState::kSucceeded;
  FailureClass failure = FailureClass::kNone;
  bool transient = false;
  std::string message;
  int hangs = 0;                // So many turns more pass before it ends.
  int restarts = 0;             // Of its primary, as soon as it runs.
  int signal = 0;               // That ended its primary.
  std::size_t at_once = 1;      // Number of values that it reports in a turn.
  std::string lost_output;      // Why some of what it printed was not kept.
  std::int64_t first_step = 1;  // The step of its first value.
};

// The machines and the programs on them: what is still there when the process that launched it has died.
//
// Time is turns: in each, every running job reports its next value or ends, and every job told to stop is down.
class FakeWorld {
 public:
  explicit FakeWorld(int slots) : slots_(slots) {}

  // The script of an attempt; by default one value, then success.
  std::function<Script(const GangProgram&)> script = [](const GangProgram&) { return Script{}; };

  void Turn();

  // So many askings more find that what a gang needs is not there yet; and what is said after them.
  int preparations = 0;
  absl::Status prepared;
  // So many starts more find the disk full.
  int starts_without_room = 0;
  // So many starts more fail on the launcher's own side.
  int broken_starts = 0;

  struct Job {
    GangProgram program;
    Script script;
    AttemptState state = AttemptState::kStarting;
    std::size_t reported = 0;
    bool stop = false;
    int starts = 0;
  };
  std::map<AttemptId, Job> jobs;

  // The most slots that were in use at once.
  int most_used() const { return most_used_; }

 private:
  friend class FakeLauncher;
  const int slots_;
  int most_used_ = 0;
};

// A launcher of one process over a world that outlives it.
class FakeLauncher : public Launcher {
 public:
  explicit FakeLauncher(FakeWorld& world) : world_(world) {}

  absl::Status CheckFits(const GangRequest& gang) const override;
  absl::Status Prepare(const GangRequest& gang) override;
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override;
  absl::Status Start(const GangProgram& gang) override;
  absl::StatusOr<GangStatus> Adopt(const GangRequest& gang, const PlacedGang& placed) override;
  absl::StatusOr<GangStatus> Check(const AttemptId& id) override;
  absl::Status Stop(const AttemptId& id) override;
  absl::Status Release(const AttemptId& id) override;
  // Who was refused room and not released since, by id; this launcher gives room to whoever asks first.
  std::vector<QueuedGang> Queue() override;

 private:
  int used() const;
  FakeWorld& world_;
  std::map<AttemptId, int> room_;  // Slots reserved by this process.
  std::map<AttemptId, GangRequest> waiting_;
  std::set<AttemptId> stopped_;  // Told to stop before anything of them ran.
};

// Reads what a job of the world has reported, from its beginning.
std::unique_ptr<MetricReader> NewFakeReader(const FakeWorld& world,
                                            AttemptId id,
                                            std::string metric);

}  // namespace vernier::testing
