#include "src/cli/study_warnings.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "fmt/format.h"
#include "src/cli/job_warnings.h"
#include "src/core/metric_names.h"

namespace vernier::cli {
namespace {

bool UsesGpus(const TrainingJob& job) {
  return job.input.has_value() || std::ranges::any_of(job.replicas, [](const auto& entry) {
           return entry.second.resources.gpus > 0 || !entry.second.machine_type.empty();
         });
}

// A finite space ends by itself: no point is proposed twice. GPU hours bound only jobs that use GPUs.
bool IsBounded(const StudySpec& spec) {
  const Budget& budget = spec.budget;
  const bool stops_itself = spec.convergence.has_value() && spec.convergence->stop;
  return budget.trials.has_value() || budget.time.has_value() || stops_itself ||
         (budget.gpu_hours.has_value() && UsesGpus(*spec.job)) ||
         spec.space.Cardinality().has_value();
}

// An objective without an entry of its own, beside an entry whose name is almost the same: probably a misspelling,
// since the objective would then be read by its bare name.
void AddMisnamedMetrics(const StudySpec& spec, std::vector<std::string>& warnings) {
  const auto is_objective = [&](const std::string& name) {
    return std::ranges::count(spec.objectives, name, &Objective::metric) > 0;
  };
  for (const Objective& objective : spec.objectives) {
    if (spec.metrics.contains(objective.metric)) continue;
    for (const auto& [name, source] : spec.metrics) {
      const auto likeness = CompareMetricNames(objective.metric, name);
      if (likeness > NameLikeness::kShortForm || is_objective(name)) continue;
      warnings.push_back(
          fmt::format("metrics: the objective '{0}' has no entry, '{1}' has one; give both the "
                      "same name if '{1}' is the objective",
                      objective.metric,
                      name));
    }
  }
}

}  // namespace

std::vector<std::string> WarningsOf(const StudySpec& spec, bool runs_here) {
  std::vector<std::string> warnings;
  if (!spec.job.has_value()) return warnings;  // Clients that run the trials decide when to stop.
  if (!IsBounded(spec)) {
    warnings.emplace_back(
        "budget: the study runs for ever: it has infinitely many points and no bound on trials or "
        "time; `budget: {trials: 100}` ends it");
  }
  AddMisnamedMetrics(spec, warnings);
  std::ranges::move(JobWarningsOf(spec, runs_here), std::back_inserter(warnings));
  return warnings;
}

void PrintWarning(Context& context, std::string_view warning) {
  context.console().err << fmt::format("vernier: warning: {}\n", warning);
}

void PrintWarnings(Context& context, const StudySpec& spec) {
  for (const std::string& warning : WarningsOf(spec, context.flags().server.empty())) {
    PrintWarning(context, warning);
  }
}

}  // namespace vernier::cli
