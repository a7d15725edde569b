#include "src/cli/study_warnings.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "src/app/job_directory.h"
#include "src/cli/job_warnings.h"
#include "src/cli/terminal/text.h"
#include "src/core/metric_names.h"
#include "src/core/never_active.h"
#include "src/jobs/layout.h"

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

void AddSpaceWarnings(const StudySpec& spec, std::vector<std::string>& warnings) {
  for (const NeverActive& never : FindNeverActive(spec.space)) {
    warnings.push_back(fmt::format(
        "parameters.{}.when: no trial has this parameter: no value of '{}' satisfies its "
        "conditions and those of the parameters that it depends on",
        never.parameter,
        never.ancestor));
  }
}

void AddStoppingWarnings(const StudySpec& spec, std::vector<std::string>& warnings) {
  if (spec.stopping.name == "none") return;
  if (spec.judged_when_asked && spec.job.has_value()) {
    warnings.emplace_back(
        "stopping.when: 'asked' judges a trial when its client asks, and the trials of a job have "
        "no client that asks: none is stopped");
  } else if (spec.objectives.size() > 1) {
    warnings.push_back(
        fmt::format("stopping: '{}' judges trials by '{}' alone, the first of {} objectives; "
                    "`stopping: none` runs all trials to their end",
                    spec.stopping.name,
                    spec.objectives.front().metric,
                    spec.objectives.size()));
  }
}

}  // namespace

std::string UsedFolderWarning(const StudySpec& spec) {
  namespace fs = std::filesystem;
  if (!spec.job.has_value()) return "";
  // A relative folder is below the one that this command runs in, as the job is.
  const std::optional<fs::path> folder = app::LocalJobDirectory(*spec.job, "");
  if (!folder.has_value()) return "";
  std::error_code error;
  for (fs::directory_iterator it(*folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool is_of_trial = std::ranges::all_of(name, absl::ascii_isdigit);
    if (!is_of_trial || fs::is_empty(it->path(), error) || error) continue;
    return fmt::format(
        "{}: '{}' has files of earlier trials, as in '{}'; trials of this study with the same "
        "numbers will find them, checkpoints of other points too: stop it, and give another folder "
        "or empty this one",
        app::JobDirectoryField(*spec.job),
        *jobs::LocalPath(spec.job->job_directory),
        name);
  }
  return "";
}

std::vector<std::string> WarningsOf(const StudySpec& spec, bool runs_here) {
  std::vector<std::string> warnings;
  AddSpaceWarnings(spec, warnings);
  AddStoppingWarnings(spec, warnings);
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
  context.console().err << fmt::format("vernier: warning: {}\n", Printable(warning));
}

void PrintWarnings(Context& context, const StudySpec& spec) {
  for (const std::string& warning : WarningsOf(spec, context.flags().server.empty())) {
    PrintWarning(context, warning);
  }
}

}  // namespace vernier::cli
