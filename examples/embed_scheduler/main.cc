// A scheduler that embeds Vernier: it implements Launcher, calls Engine::Step in its own loop, and runs a study in this
// process. Vernier starts no thread and installs no signal handler.
#include <cstdio>
#include <memory>
#include <vector>

#include "toy_cluster.h"
#include "vernier/engine.h"
#include "vernier/storage.h"

namespace {

// Reads the losses of a job from memory.
class LossReader final : public vernier::MetricReader {
 public:
  LossReader(const ToyCluster& cluster, vernier::AttemptId id, absl::Time start)
      : cluster_(cluster), id_(id), start_(start) {}

  absl::StatusOr<std::vector<vernier::Measurement>> Read() override {
    std::vector<vernier::Measurement> fresh;
    const std::vector<double>& losses = cluster_.Losses(id_);
    for (; seen_ < losses.size(); ++seen_) {
      const auto epoch = static_cast<std::int64_t>(seen_) + 1;
      fresh.push_back({.step = epoch,
                       .time = start_ + absl::Seconds(epoch),
                       .metrics = {{"loss", losses[seen_]}},
                       .source = "toy"});
    }
    return fresh;
  }
  std::vector<std::string> UnmatchedLines() const override { return {}; }

 private:
  const ToyCluster& cluster_;
  const vernier::AttemptId id_;
  const absl::Time start_;
  std::size_t seen_ = 0;
};

vernier::StudySpec Definition() {
  vernier::StudySpec spec;
  spec.name = "embedded";
  spec.objectives = {{"loss", vernier::Goal::kMinimize}};
  spec.space = *vernier::Space::Create(
      {{.name = "lr", .domain = vernier::FloatDomain{1e-5, 1.0, vernier::Scale::kLog}}});
  spec.stopping = {.name = "automatic"};
  spec.parallel = 2;
  spec.budget.trials = 15;
  spec.job = vernier::TrainingJob{.command = {"train"}};
  spec.job->replicas[vernier::Role::kWorker] = {.count = 2};
  return spec;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

int main() {
  const std::unique_ptr<vernier::Clock> clock = vernier::NewRealClock();
  const std::unique_ptr<vernier::Storage> storage = vernier::NewMemoryStorage();
  const std::unique_ptr<vernier::Studies> studies = vernier::Studies::Create(*storage, *clock);
  ToyCluster cluster(/*slots=*/6);
  vernier::EngineOptions options;
  options.metrics = [&](const auto&, const auto& trial, const vernier::GangProgram& gang)
      -> absl::StatusOr<std::unique_ptr<vernier::MetricReader>> {
    return std::make_unique<LossReader>(cluster, gang.id, trial.created);
  };
  const std::unique_ptr<vernier::Engine> engine =
      vernier::Engine::Create(*studies, cluster, *clock, options);

  auto study = studies->CreateStudy(Definition(), {.actor = "scheduler"});
  if (!study.ok()) return Fail(study.status());
  while (!vernier::IsFinished(study->state)) {
    if (const auto wait = engine->Step(); !wait.ok()) return Fail(wait.status());
    for (const vernier::StudyTrouble& trouble : engine->troubles()) {
      std::fprintf(stderr, "%s: %s\n", trouble.name.c_str(), trouble.error.ToString().c_str());
    }
    cluster.Turn();
    study = studies->GetStudy(study->id);
    if (!study.ok()) return Fail(study.status());
  }
  if (!study->best.has_value()) return Fail(absl::InternalError("no trial completed"));
  const auto best = studies->GetTrial({study->id, *study->best});
  if (!best.ok()) return Fail(best.status());
  std::printf("%lld trials, best: %s loss=%.4f\n",
              static_cast<long long>(study->trials),
              vernier::FormatPoint(best->point).c_str(),
              best->final_metrics.at("loss"));
  return 0;
}
