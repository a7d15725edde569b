#include "licensed_launcher.h"

#include <string>

absl::StatusOr<vernier::PlacedGang> LicensedLauncher::Place(const vernier::GangRequest& gang) {
  if (holders_.size() >= licences_ && !holders_.contains(gang.id)) {
    waiting_.insert(gang.id);
    return absl::ResourceExhaustedError("needs a licence, all " + std::to_string(licences_) +
                                        " are in use");
  }
  auto placed = launcher_->Place(gang);
  if (placed.ok()) {
    holders_.insert(gang.id);
    waiting_.erase(gang.id);
  }
  return placed;
}

// A trial that an earlier process started still has its licence, even if there are fewer now.
absl::StatusOr<vernier::GangStatus> LicensedLauncher::Adopt(const vernier::GangRequest& gang,
                                                            const vernier::PlacedGang& placed) {
  holders_.insert(gang.id);
  return launcher_->Adopt(gang, placed);
}

absl::Status LicensedLauncher::Release(const vernier::AttemptId& id) {
  const absl::Status released = launcher_->Release(id);
  if (!released.ok()) return released;
  waiting_.erase(id);
  if (holders_.erase(id) > 0 && changed_ != nullptr) {
    for (const vernier::AttemptId& other : waiting_) changed_(other);  // Place may succeed now.
  }
  return released;
}

bool LicensedLauncher::Watch(const std::function<void(const vernier::AttemptId& id)>& changed) {
  changed_ = changed;
  return launcher_->Watch(changed);
}
