#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "vernier/launcher.h"

// A launcher around another one: each running trial needs one of `licences` licences.
class LicensedLauncher final : public vernier::Launcher {
 public:
  LicensedLauncher(std::unique_ptr<vernier::Launcher> launcher, std::size_t licences)
      : launcher_(std::move(launcher)), licences_(licences) {}

  absl::StatusOr<vernier::PlacedGang> Place(const vernier::GangRequest& gang) override;
  absl::StatusOr<vernier::GangStatus> Adopt(const vernier::GangRequest& gang,
                                            const vernier::PlacedGang& placed) override;
  absl::Status Release(const vernier::AttemptId& id) override;

  // All other calls are forwarded.
  absl::Status CheckFits(const vernier::GangRequest& gang) const override {
    return launcher_->CheckFits(gang);
  }
  absl::Status Prepare(const vernier::GangRequest& gang) override {
    return launcher_->Prepare(gang);
  }
  absl::Status Start(const vernier::GangProgram& gang) override { return launcher_->Start(gang); }
  absl::StatusOr<vernier::GangStatus> Check(const vernier::AttemptId& id) override {
    return launcher_->Check(id);
  }
  absl::Status Stop(const vernier::AttemptId& id) override { return launcher_->Stop(id); }
  bool Watch(const std::function<void(const vernier::AttemptId& id)>& changed) override;
  std::string WhyHeld() override { return launcher_->WhyHeld(); }
  std::vector<vernier::Node> Nodes() override { return launcher_->Nodes(); }
  std::vector<vernier::QueuedGang> Queue() override { return launcher_->Queue(); }

 private:
  const std::unique_ptr<vernier::Launcher> launcher_;
  const std::size_t licences_;
  std::set<vernier::AttemptId> holders_;
  std::set<vernier::AttemptId> waiting_;
  std::function<void(const vernier::AttemptId& id)> changed_;
};
