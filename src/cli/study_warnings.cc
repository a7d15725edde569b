#include "src/cli/study_warnings.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "fmt/format.h"
#include "src/cli/job_warnings.h"
#include "src/core/metric_names.h"
#include "src/core/nearest.h"
#include "src/jobs/placeholders.h"

namespace vernier::cli {
namespace {

bool UsesGpus(const TrainingJob& job) {
  return job.input.has_value() || std::ranges::any_of(job.replicas, [](const auto& entry) {
           return entry.second.resources.gpus > 0 || !entry.second.machine_type.empty();
         });
}

bool IsBounded(const StudySpec& spec) {
  const Budget& budget = spec.budget;
  const bool stops_itself = spec.convergence.has_value() && spec.convergence->stop;
  return budget.trials.has_value() || budget.time.has_value() || stops_itself ||
         (budget.gpu_hours.has_value() && UsesGpus(*spec.job)) ||
         spec.space.Cardinality().has_value();
}

// Whether the text stands for itself: no placeholder is in it.
bool IsPlain(std::string_view text) { return text.find('{') == std::string_view::npos; }

// Names in braces that stand for nothing: they are passed as they are, which is likely to be a slip.
void AddUnknownNames(const StudySpec& spec, std::vector<std::string>& warnings) {
  if (!jobs::HasPlaceholders(spec)) return;
  std::vector<std::string> known = {jobs::kTrialNumber, jobs::kJobDirectory, jobs::kParametersFile};
  for (const Parameter& parameter : spec.space.parameters()) known.push_back(parameter.name);
  std::set<std::string> said;
  const auto look = [&](const std::string& field, const std::string& text) {
    for (const std::string& name : jobs::PlaceholderNames(text)) {
      if (jobs::IsPlaceholder(name, spec) || !said.insert(name).second) continue;
      const bool lacks_directory = name == jobs::kJobDirectory;
      warnings.push_back(
          fmt::format("{}: '{{{}}}' is passed as it is: {}",
                      field,
                      name,
                      lacks_directory ? std::string("the job has no `dir`")
                                      : "no parameter has that name" + NearestHint(name, known)));
    }
  };
  const auto look_at_all = [&](const std::string& field, const std::vector<std::string>& words) {
    for (const std::string& word : words) look(field, word);
  };
  look_at_all("job.command", spec.job->command);
  look_at_all("job.args", spec.job->args);
  for (const auto& [name, text] : spec.job->env) look("job.env." + name, text);
  for (const auto& [role, replica] : spec.job->replicas) {
    const std::string field = fmt::format("job.replicas.{}", RoleName(role, *spec.job));
    look_at_all(field + ".command", replica.command);
    look_at_all(field + ".args", replica.args);
    for (const auto& [name, text] : replica.env) look(fmt::format("{}.env.{}", field, name), text);
  }
}

// The option word before a placeholder that stands alone is passed without a value where the parameter is inactive.
void AddLonelyOptions(const StudySpec& spec, std::vector<std::string>& warnings) {
  std::set<std::string> conditional;
  for (const Parameter& parameter : spec.space.parameters()) {
    if (!parameter.when.empty()) conditional.insert(parameter.name);
  }
  const auto look = [&](const std::string& field, const std::vector<std::string>& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::string& option = words[i - 1];
      const bool is_option =
          option.starts_with('-') && IsPlain(option) && option.find('=') == std::string::npos;
      const bool is_placeholder = word.starts_with('{') && word.ends_with('}');
      if (!is_option || !is_placeholder) continue;
      const std::string name = word.substr(1, word.size() - 2);
      if (!conditional.contains(name)) continue;
      warnings.push_back(fmt::format(
          "{0}: where {1} is inactive, '{2}' is passed without a value; write '{2}={{{1}}}' as one "
          "word",
          field,
          name,
          option));
    }
  };
  look("job.command", spec.job->command);
  look("job.args", spec.job->args);
  for (const auto& [role, replica] : spec.job->replicas) {
    const std::string field = fmt::format("job.replicas.{}", RoleName(role, *spec.job));
    look(field + ".command", replica.command);
    look(field + ".args", replica.args);
  }
}

// An objective that is looked for by its name alone, beside an entry that may have been meant for it.
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
  if (!spec.job.has_value()) return warnings;  // Its clients decide how long it goes on.
  if (!IsBounded(spec)) {
    warnings.emplace_back(
        "budget: the study runs for ever: it has infinitely many points and no bound on trials or "
        "time; `budget: {trials: 100}` ends it");
  }
  AddMisnamedMetrics(spec, warnings);
  AddUnknownNames(spec, warnings);
  AddLonelyOptions(spec, warnings);
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
