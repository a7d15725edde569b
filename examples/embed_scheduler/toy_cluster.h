#pragma once

#include <map>
#include <string>
#include <vector>

#include "vernier/launcher.h"

// A toy scheduler that implements vernier::Launcher: it has slots, and jobs that advance in Turn. It stands for the
// scheduler of a program that embeds Vernier.
class ToyCluster final : public vernier::Launcher {
 public:
  explicit ToyCluster(int slots) : slots_(slots), free_slots_(slots) {}

  // One turn of the scheduler's loop: every running job computes one epoch.
  void Turn();
  // The losses of an attempt's job so far, one for each epoch. Valid until the attempt is released.
  const std::vector<double>& Losses(const vernier::AttemptId& id) const;

  absl::Status CheckFits(const vernier::GangRequest& gang) const override;
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

  const int slots_;
  int free_slots_;
  std::map<vernier::AttemptId, Job> jobs_;
};
