#include "toy_cluster.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace {

constexpr int kEpochs = 10;

// Reads a tuned parameter: jobs get them as their last arguments, --lr=0.01.
double ArgumentOf(const vernier::ReplicaProgram& replica, const std::string& name) {
  const std::string prefix = "--" + name + "=";
  for (const std::string& argument : replica.argv) {
    if (argument.starts_with(prefix)) return std::strtod(argument.c_str() + prefix.size(), nullptr);
  }
  return 0;
}

}  // namespace

void ToyCluster::Turn() {
  for (auto& [id, job] : jobs_) {
    if (job.state == vernier::AttemptState::kStarting) job.state = vernier::AttemptState::kRunning;
    if (job.state != vernier::AttemptState::kRunning) continue;
    const double epoch = static_cast<double>(job.losses.size()) + 1;
    const double reachable = std::pow(std::log10(job.learning_rate) + 2, 2);
    job.losses.push_back(reachable + 1.0 / epoch);
    if (job.losses.size() == kEpochs) job.state = vernier::AttemptState::kSucceeded;
  }
}

const std::vector<double>& ToyCluster::Losses(const vernier::AttemptId& id) const {
  return jobs_.at(id).losses;
}

absl::Status ToyCluster::CheckFits(const vernier::GangRequest& gang) const {
  if (static_cast<int>(gang.replicas.size()) <= slots_) return absl::OkStatus();
  return absl::InvalidArgumentError("the cluster has " + std::to_string(slots_) + " slots");
}

absl::StatusOr<vernier::PlacedGang> ToyCluster::Place(const vernier::GangRequest& gang) {
  if (jobs_.contains(gang.id)) return absl::FailedPreconditionError("the attempt is placed");
  const int wanted = static_cast<int>(gang.replicas.size());
  if (wanted > free_slots_) {
    return absl::ResourceExhaustedError("needs " + std::to_string(wanted) + " slots, " +
                                        std::to_string(free_slots_) + " free");
  }
  free_slots_ -= wanted;
  jobs_[gang.id] = {.slots = wanted};
  vernier::PlacedGang placed{.directory = "/nowhere"};
  for (const vernier::ReplicaRequest& replica : gang.replicas) {
    placed.placement.push_back(
        {.role = replica.role, .index = replica.index, .host = "toy", .port = 2222});
  }
  return placed;
}

absl::Status ToyCluster::Start(const vernier::GangProgram& gang) {
  const auto job = jobs_.find(gang.id);
  if (job == jobs_.end()) return absl::NotFoundError("no such attempt");
  if (job->second.state != vernier::AttemptState::kPlaced) return absl::OkStatus();  // Before.
  job->second.learning_rate = ArgumentOf(gang.replicas.front(), "lr");
  job->second.state = vernier::AttemptState::kStarting;
  return absl::OkStatus();
}

// Jobs of this cluster end with the program, so that there are none of an earlier process to adopt.
absl::StatusOr<vernier::GangStatus> ToyCluster::Adopt(const vernier::GangRequest&,
                                                      const vernier::PlacedGang&) {
  return absl::NotFoundError("never started here");
}

absl::StatusOr<vernier::GangStatus> ToyCluster::Check(const vernier::AttemptId& id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return absl::NotFoundError("no such attempt");
  return vernier::GangStatus{.state = job->second.state};
}

absl::Status ToyCluster::Stop(const vernier::AttemptId& id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return absl::NotFoundError("no such attempt");
  vernier::AttemptState& state = job->second.state;
  if (!vernier::IsEnded(state)) state = vernier::AttemptState::kStopped;
  return absl::OkStatus();
}

absl::Status ToyCluster::Release(const vernier::AttemptId& id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return absl::OkStatus();
  if (job->second.state == vernier::AttemptState::kStarting ||
      job->second.state == vernier::AttemptState::kRunning) {
    return absl::FailedPreconditionError("the attempt is running");
  }
  free_slots_ += job->second.slots;
  jobs_.erase(job);
  return absl::OkStatus();
}
