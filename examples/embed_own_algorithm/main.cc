// Runs a study with an algorithm of this program, which the study file refers to by name.
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "vernier/algorithm_catalogue.h"
#include "vernier/core/unit_cube.h"
#include "vernier/storage.h"
#include "vernier/studies.h"
#include "vernier/study_file.h"

namespace {

constexpr char kStudyFile[] = R"(
study: parabola
objective: {minimize: loss}
parameters:
  x: {float: [-1, 1]}
  y: {float: [-1, 1]}
algorithm: additive
budget: {trials: 30}
parallel: 1
)";

// Proposes the points of an additive recurrence, which fills the unit cube evenly: each coordinate advances by a fixed
// fraction (M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
class AdditiveOptimizer final : public vernier::Optimizer {
 public:
  explicit AdditiveOptimizer(vernier::Space space) : space_(std::move(space)) {}
  std::string_view name() const override { return "additive"; }
  std::string_view version() const override { return "1"; }  // Another one when points change.
  std::string options() const override { return "{}"; }

  absl::StatusOr<vernier::Suggestions> Suggest(const vernier::TrialLog::View& finished,
                                               std::span<const vernier::PendingPoint> pending,
                                               std::string_view /*state*/,
                                               vernier::Rng /*stream*/,
                                               std::size_t count,
                                               std::stop_token /*stop*/) const override {
    vernier::Suggestions suggestions;
    for (std::size_t i = finished.size() + pending.size() + 1; count > 0; ++i, --count) {
      std::vector<double> place;
      for (std::size_t d = 0; d < space_.parameters().size(); ++d) {
        // The fractions for two dimensions are powers of the plastic number, 1.3247….
        const double whole = 0.5 + static_cast<double>(i) / std::pow(1.324717957244746, d + 1);
        place.push_back(whole - std::floor(whole));
      }
      suggestions.points.push_back(
          {.point = vernier::DecodePoint(space_, place), .origin = "sequence"});
    }
    return suggestions;
  }

 private:
  const vernier::Space space_;
};

absl::Status Run() {
  const auto clock = vernier::NewRealClock();
  const auto storage = vernier::NewMemoryStorage();
  auto catalogue = vernier::AlgorithmCatalogue::BuiltIn();
  const absl::Status added = catalogue.AddAlgorithm(
      "additive", [](const vernier::Problem& problem, const vernier::Choice&) {
        return std::make_unique<AdditiveOptimizer>(problem.space);
      });
  if (!added.ok()) return added;
  const auto studies = vernier::Studies::Create(*storage, *clock, std::move(catalogue));
  const auto spec = vernier::ParseStudyFile(kStudyFile);
  if (!spec.ok()) return spec.status();
  auto study = studies->CreateStudy(*spec, {.actor = "example"});
  if (!study.ok()) return study.status();
  while (!vernier::IsFinished(study->state)) {
    const auto trials = studies->Suggest(study->id, 1, "example", {.actor = "example"}, {});
    if (!trials.ok()) return trials.status();
    const vernier::Trial& trial = trials->front();
    const double x = std::get<double>(trial.point.at("x"));
    const double y = std::get<double>(trial.point.at("y"));
    const vernier::TrialId id{study->id, trial.number};
    const vernier::LeaseToken lease{.holder = "example", .token = trial.lease->token};
    const auto ended =
        studies->Complete(id, {.metrics = {{"loss", x * x + y * y}}}, lease, {.actor = "example"});
    if (!ended.ok()) return ended.status();
    study = studies->GetStudy(study->id);
    if (!study.ok()) return study.status();
  }
  const auto replay = studies->Replay(study->id);
  if (!replay.ok()) return replay.status();
  if (replay->diverged()) return absl::InternalError("the study does not replay");
  const auto best = studies->GetTrial({study->id, *study->best});
  if (!best.ok()) return best.status();
  std::printf(
      "%s loss=%.4f\n", vernier::FormatPoint(best->point).c_str(), best->final_metrics.at("loss"));
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
