#pragma once

#include <map>
#include <string>
#include <vector>

#include "vernier/launcher.h"

// A scheduler of its own: machines with slots, and jobs that advance when its loop says so. It stands for whatever
// already places jobs where Vernier is embedded, and implements vernier::Launcher itself.
class ToyCluster final : public vernier::Launcher {
 public:
  explicit ToyCluster(int slots) : free_slots_(slots) {}

  // One turn of the scheduler's own loop: every running job does one epoch.
  void Turn();
  // What the job of an attempt has reported so far: (epoch, loss).
  const std::vector<double>& Losses(const vernier::AttemptId& id) const;

  absl::Status CheckFits(const std::vector<vernier::ReplicaRequest>& replicas) const override;
  absl::StatusOr<vernier::PlacedGang> Place(const vernier::GangRequest& gang) override;
  absl::Status Start(const vernier::GangProgram& gang) override;
  absl::StatusOr<vernier::GangStatus> Adopt(const vernier::GangRequest& gang,
                                            const vernier::PlacedGang& placed) override;
  absl::StatusOr<vernier::GangStatus> Check(const vernier::AttemptId& id) override;
  absl::Status Stop(const vernier::AttemptId& id) override;
  absl::Status Release(const vernier::AttemptId& id) override;

 private:
  struct Job {
    int slots = 0;
    double learning_rate = 0;
    std::vector<double> losses;  // One per epoch.
    vernier::AttemptState state = vernier::AttemptState::kPlaced;
  };

  int free_slots_;
  std::map<vernier::AttemptId, Job> jobs_;
};
