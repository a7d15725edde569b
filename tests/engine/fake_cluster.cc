#include "tests/engine/fake_cluster.h"

#include <algorithm>
#include <utility>

#include "src/core/status.h"

namespace vernier::testing {
namespace {

class FakeReader final : public MetricReader {
 public:
  FakeReader(const FakeWorld& world, AttemptId id, std::string metric)
      : world_(world), id_(id), metric_(std::move(metric)) {}

  absl::StatusOr<std::vector<Measurement>> Read() override {
    std::vector<Measurement> fresh;
    const auto job = world_.jobs.find(id_);
    if (job == world_.jobs.end()) return fresh;
    for (; seen_ < job->second.reported; ++seen_) {
      const auto step = static_cast<std::int64_t>(seen_) + job->second.script.first_step;
      fresh.push_back({.step = step,
                       .elapsed = {},
                       .time = absl::FromUnixSeconds(1'700'000'000 + step),
                       .metrics = {{metric_, job->second.script.values[seen_]}},
                       .source = "fake"});
    }
    return fresh;
  }
  std::vector<std::string> UnmatchedLines() const override { return {"hello", "goodbye"}; }

 private:
  const FakeWorld& world_;
  const AttemptId id_;
  const std::string metric_;
  std::size_t seen_ = 0;
};

}  // namespace

void FakeWorld::Turn() {
  for (auto& [id, job] : jobs) {
    if (IsEnded(job.state)) continue;
    if (job.stop) {
      job.state = AttemptState::kStopped;
    } else if (job.state == AttemptState::kStarting) {
      job.state = AttemptState::kRunning;
    } else if (job.reported < job.script.values.size()) {
      job.reported = std::min(job.reported + job.script.at_once, job.script.values.size());
    } else if (job.script.hangs > 0) {
      --job.script.hangs;
    } else {
      job.state = job.script.end;
    }
  }
}

int FakeLauncher::used() const {
  int sum = 0;
  for (const auto& [id, slots] : room_) sum += slots;
  return sum;
}

absl::Status FakeLauncher::CheckFits(const GangRequest& gang) const {
  if (static_cast<int>(gang.replicas.size()) <= world_.slots_) return absl::OkStatus();
  return InvalidArgument("needs {} slots, the world has {}", gang.replicas.size(), world_.slots_);
}

absl::Status FakeLauncher::Prepare(const GangRequest& gang) {
  if (world_.preparations == 0) return world_.prepared;
  --world_.preparations;
  waiting_[gang.id] = gang;
  return absl::UnavailableError("installing its packages");
}

absl::StatusOr<PlacedGang> FakeLauncher::Place(const GangRequest& gang) {
  VERNIER_RETURN_IF_ERROR(CheckFits(gang));
  const int wanted = static_cast<int>(gang.replicas.size());
  if (used() + wanted > world_.slots_) {
    waiting_[gang.id] = gang;
    return ResourceExhausted("needs {} slots, {} free", wanted, world_.slots_ - used());
  }
  waiting_.erase(gang.id);
  room_[gang.id] = wanted;
  world_.most_used_ = std::max(world_.most_used_, used());
  PlacedGang placed{.placement = {}, .directory = "/nowhere"};
  for (const ReplicaRequest& replica : gang.replicas) {
    placed.placement.push_back(
        {.role = replica.role, .index = replica.index, .host = "fake", .port = 1, .gpus = {}});
  }
  return placed;
}

absl::Status FakeLauncher::Start(const GangProgram& gang) {
  if (world_.starts_without_room > 0) {
    --world_.starts_without_room;
    return ResourceExhausted("cannot write '/nowhere/gang.json': No space left on device");
  }
  if (world_.broken_starts > 0) {
    --world_.broken_starts;
    return Unavailable("supervisor '/nowhere': No such file or directory");
  }
  auto [job, fresh] = world_.jobs.try_emplace(gang.id);
  if (!fresh) return absl::OkStatus();
  job->second.program = gang;
  job->second.script = world_.script(gang);
  ++job->second.starts;
  return absl::OkStatus();
}

absl::StatusOr<GangStatus> FakeLauncher::Adopt(const GangRequest& gang, const PlacedGang&) {
  room_[gang.id] = static_cast<int>(gang.replicas.size());
  world_.most_used_ = std::max(world_.most_used_, used());
  if (!world_.jobs.contains(gang.id)) return NotFound("nothing of it was started");
  return Check(gang.id);
}

absl::StatusOr<GangStatus> FakeLauncher::Check(const AttemptId& id) {
  if (!room_.contains(id)) return NotFound("neither placed nor adopted");
  const auto job = world_.jobs.find(id);
  if (job == world_.jobs.end()) {
    return GangStatus{.state =
                          stopped_.contains(id) ? AttemptState::kStopped : AttemptState::kStarting};
  }
  const Script& script = job->second.script;
  GangStatus status{.state = job->second.state, .lost_output = script.lost_output};
  if (script.restarts > 0) status.replicas = {{.role = "chief", .restarts = script.restarts}};
  if (status.state != AttemptState::kFailed && status.state != AttemptState::kLost) return status;
  if (script.signal > 0) status.replicas = {{.role = "chief", .signal = script.signal}};
  status.failure = script.failure;
  status.transient = script.transient;
  status.message = script.message;
  return status;
}

absl::Status FakeLauncher::Stop(const AttemptId& id) {
  const auto job = world_.jobs.find(id);
  if (job == world_.jobs.end()) {
    stopped_.insert(id);
  } else {
    job->second.stop = true;
  }
  return absl::OkStatus();
}

absl::Status FakeLauncher::Release(const AttemptId& id) {
  room_.erase(id);
  waiting_.erase(id);
  return absl::OkStatus();
}

std::vector<QueuedGang> FakeLauncher::Queue() {
  std::vector<QueuedGang> queue;
  for (const auto& [id, gang] : waiting_) {
    queue.push_back({.id = id,
                     .study = gang.study,
                     .priority = gang.priority,
                     .queued = gang.queued,
                     .needs = "",
                     .reason = "no room",
                     .start_by = {}});
  }
  return queue;
}

std::unique_ptr<MetricReader> NewFakeReader(const FakeWorld& world,
                                            AttemptId id,
                                            std::string metric) {
  return std::make_unique<FakeReader>(world, id, std::move(metric));
}

}  // namespace vernier::testing
