#include "src/launch/cluster_launcher.h"

#include <iterator>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/status.h"

namespace vernier::launch {
namespace {

class ClusterLauncher final : public Launcher {
 public:
  ClusterLauncher(std::map<std::string, std::unique_ptr<Launcher>> clusters, std::string usual)
      : clusters_(std::move(clusters)), usual_(std::move(usual)) {}

  absl::Status CheckFits(const GangRequest& gang) const override {
    VERNIER_ASSIGN_OR_RETURN(Launcher * launcher, Of(gang));
    return launcher->CheckFits(gang);
  }
  absl::Status Prepare(const GangRequest& gang) override {
    VERNIER_ASSIGN_OR_RETURN(Launcher * launcher, Take(gang));
    return launcher->Prepare(gang);
  }
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override {
    VERNIER_ASSIGN_OR_RETURN(Launcher * launcher, Take(gang));
    return launcher->Place(gang);
  }
  absl::Status Start(const GangProgram& gang) override {
    VERNIER_ASSIGN_OR_RETURN(Launcher * launcher, Find(gang.id));
    return launcher->Start(gang);
  }
  absl::StatusOr<GangStatus> Adopt(const GangRequest& gang, const PlacedGang& placed) override {
    VERNIER_ASSIGN_OR_RETURN(Launcher * launcher, Take(gang));
    return launcher->Adopt(gang, placed);
  }
  absl::StatusOr<GangStatus> Check(const AttemptId& id) override {
    VERNIER_ASSIGN_OR_RETURN(Launcher * launcher, Find(id));
    return launcher->Check(id);
  }
  absl::Status Stop(const AttemptId& id) override {
    VERNIER_ASSIGN_OR_RETURN(Launcher * launcher, Find(id));
    return launcher->Stop(id);
  }
  absl::Status Release(const AttemptId& id) override {
    {
      absl::MutexLock lock(&mu_);
      stranded_.erase(id);
    }
    const auto at = gangs_.find(id);
    if (at == gangs_.end()) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(at->second->Release(id));
    gangs_.erase(at);
    return absl::OkStatus();
  }

  // True only if every cluster tells: otherwise the engine polls all of them, and none may call back, since the engine takes
  // its function back only from a launcher that said true.
  bool Watch(const std::function<void(const AttemptId& id)>& changed) override {
    bool all_tell = true;
    for (const auto& [name, launcher] : clusters_) {
      all_tell = launcher->Watch(changed) && all_tell;
    }
    if (!all_tell) {
      for (const auto& [name, launcher] : clusters_) launcher->Watch({});
    }
    return all_tell;
  }

  // Of the usual cluster: trouble of another one is no reason to hold this one's studies.
  std::string WhyHeld() override { return clusters_.at(usual_)->WhyHeld(); }

  std::vector<Node> Nodes() override {
    std::vector<Node> nodes;
    for (const auto& [name, launcher] : clusters_) {
      for (Node& node : launcher->Nodes()) {
        if (name != kLocalCluster) node.name = fmt::format("{}:{}", name, node.name);
        nodes.push_back(std::move(node));
      }
    }
    return nodes;
  }

  std::vector<QueuedGang> Queue() override {
    std::vector<QueuedGang> queue;
    for (const auto& [name, launcher] : clusters_) {
      std::vector<QueuedGang> of_this = launcher->Queue();
      std::move(of_this.begin(), of_this.end(), std::back_inserter(queue));
    }
    absl::MutexLock lock(&mu_);
    for (const auto& [id, gang] : stranded_) queue.push_back(gang);
    return queue;
  }

 private:
  absl::StatusOr<Launcher*> Of(const GangRequest& gang) const {
    const auto at = clusters_.find(gang.cluster.empty() ? usual_ : gang.cluster);
    if (at != clusters_.end()) return at->second.get();
    std::vector<std::string> names;
    for (const auto& [name, launcher] : clusters_) names.push_back(name);
    return InvalidArgument("unknown cluster '{}'; known: {}", gang.cluster, fmt::join(names, ", "));
  }

  // The launcher of a gang, from now on.  Unavailable: the configuration no longer has its cluster. That is no fault of the
  // trial, which waits in the queue until the cluster is back.
  absl::StatusOr<Launcher*> Take(const GangRequest& gang) {
    const absl::StatusOr<Launcher*> launcher = Of(gang);
    absl::MutexLock lock(&mu_);
    if (!launcher.ok()) {
      const std::string why(launcher.status().message());
      stranded_[gang.id] = {
          .id = gang.id,
          .study = gang.study,
          .priority = gang.priority,
          .queued = gang.queued,
          .needs = fmt::format(
              "{} replica{}", gang.replicas.size(), gang.replicas.size() == 1 ? "" : "s"),
          .reason = why + "; see --config",
          .start_by = std::nullopt};
      return Unavailable("{}", why);
    }
    stranded_.erase(gang.id);
    gangs_.emplace(gang.id, *launcher);
    return gangs_.at(gang.id);
  }

  absl::StatusOr<Launcher*> Find(const AttemptId& id) const {
    const auto at = gangs_.find(id);
    if (at != gangs_.end()) return at->second;
    return NotFound("attempt {} of trial {} is neither placed nor adopted here",
                    id.number.value(),
                    id.trial.number.value());
  }

  const std::map<std::string, std::unique_ptr<Launcher>> clusters_;
  const std::string usual_;
  std::map<AttemptId, Launcher*> gangs_;  // Of the engine's thread.
  absl::Mutex mu_;
  std::map<AttemptId, QueuedGang> stranded_ ABSL_GUARDED_BY(mu_);  // Of unknown clusters.
};

}  // namespace

std::unique_ptr<Launcher> NewClusterLauncher(
    std::map<std::string, std::unique_ptr<Launcher>> clusters, std::string usual) {
  return std::make_unique<ClusterLauncher>(std::move(clusters), std::move(usual));
}

}  // namespace vernier::launch
