// Runs a study with a stopping rule of this program, which the study file refers to by name.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "vernier/algorithm_catalogue.h"
#include "vernier/core/error.h"
#include "vernier/storage.h"
#include "vernier/studies.h"
#include "vernier/study_file.h"

namespace {

constexpr char kStudyFile[] = R"(
study: plateaus
objective: {minimize: loss}
parameters:
  lr: {float: [0.001, 1], scale: log}
algorithm: random
stopping: {rule: plateau, patience: 5}
budget: {trials: 12}
parallel: 1
)";
constexpr int kEpochs = 40;

// Stops a trial that has not improved in its last `patience` reports.
class PlateauRule final : public vernier::EarlyStopper {
 public:
  PlateauRule(vernier::Goal goal, std::size_t patience) : goal_(goal), patience_(patience) {}
  std::string_view name() const override { return "plateau"; }
  std::string_view version() const override { return "1"; }  // Another one when verdicts change.
  std::string options() const override {
    return "{\"patience\":" + std::to_string(patience_) + "}";
  }

  vernier::Verdict Judge(const vernier::Curve& running,
                         std::span<const vernier::Curve> /*others*/) const override {
    double best = std::numeric_limits<double>::infinity();
    std::size_t since = 0;  // Reports since the best one.
    for (const vernier::CurvePoint& point : running.points) {
      const double value = goal_ == vernier::Goal::kMinimize ? point.value : -point.value;
      since = value < best ? 0 : since + 1;  // NaN is never better.
      best = std::fmin(best, value);
    }
    return {.stop = since >= patience_,
            .numbers = {{"since_best", static_cast<double>(since)}},
            .explanation = "its best value is " + std::to_string(since) + " reports old"};
  }

 private:
  const vernier::Goal goal_;
  const std::size_t patience_;
};

absl::StatusOr<std::unique_ptr<vernier::EarlyStopper>> NewPlateauRule(
    vernier::Goal goal, const vernier::Choice& choice) {
  std::int64_t patience = 10;
  for (const auto& [name, value] : choice.options) {
    if (name != "patience") return vernier::FieldError("stopping." + name, "unknown option");
    const auto* const given = std::get_if<std::int64_t>(&value);
    if (given == nullptr || *given < 1) {
      return vernier::FieldError("stopping.patience", "must be a whole number from 1 on");
    }
    patience = *given;
  }
  return std::make_unique<PlateauRule>(goal, static_cast<std::size_t>(patience));
}

// Stands for a training program: reports a loss after each epoch until it is told to stop. Returns the number of
// epochs.
absl::StatusOr<int> Train(vernier::Studies& studies,
                          vernier::TrialId id,
                          const vernier::Trial& trial,
                          const vernier::LeaseToken& lease) {
  const double lr = std::get<double>(trial.point.at("lr"));
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    const double loss = 0.1 + std::max(std::exp(-lr * epoch), 0.3 * lr);
    const auto reported = studies.Report(
        id, {{.step = epoch, .metrics = {{"loss", loss}}}}, lease, {.actor = "example"});
    if (!reported.ok()) return reported.status();
    if (reported->stop) return epoch;
  }
  return kEpochs;
}

absl::Status Run() {
  const auto clock = vernier::NewRealClock();
  const auto storage = vernier::NewMemoryStorage();
  auto catalogue = vernier::AlgorithmCatalogue::BuiltIn();
  if (const auto added = catalogue.AddStoppingRule("plateau", NewPlateauRule); !added.ok()) {
    return added;
  }
  const auto studies = vernier::Studies::Create(*storage, *clock, std::move(catalogue));
  const auto spec = vernier::ParseStudyFile(kStudyFile);
  if (!spec.ok()) return spec.status();
  auto study = studies->CreateStudy(*spec, {.actor = "example"});
  if (!study.ok()) return study.status();
  int stopped = 0;
  while (!vernier::IsFinished(study->state)) {
    const auto trials = studies->Suggest(study->id, 1, "example", {.actor = "example"}, {});
    if (!trials.ok()) return trials.status();
    const vernier::Trial& trial = trials->front();
    const vernier::TrialId id{study->id, trial.number};
    const vernier::LeaseToken lease{.holder = "example", .token = trial.lease->token};
    const auto epochs = Train(*studies, id, trial, lease);
    if (!epochs.ok()) return epochs.status();
    stopped += *epochs < kEpochs ? 1 : 0;
    const auto ended = studies->Complete(id, {}, lease, {.actor = "example"});
    if (!ended.ok()) return ended.status();
    study = studies->GetStudy(study->id);
    if (!study.ok()) return study.status();
  }
  const auto replay = studies->Replay(study->id);
  if (!replay.ok()) return replay.status();
  if (replay->diverged()) return absl::InternalError("the study does not replay");
  std::printf("%d of %d trials were stopped\n", stopped, static_cast<int>(study->trials));
  if (stopped == 0) return absl::InternalError("the rule stopped no trial");
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
