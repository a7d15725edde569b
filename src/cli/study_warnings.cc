#include "src/cli/study_warnings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "fmt/format.h"
#include "src/core/metric_names.h"
#include "src/core/nearest.h"
#include "src/jobs/placeholders.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;

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

bool IsProgramOnPath(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path path = fs::path(rest.substr(0, end)) / name;
    if (access(path.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// What of a command line is not there; empty: nothing, as far as anybody can tell.
std::string MissingPart(const std::vector<std::string>& command,
                        const std::string& directory,
                        bool has_own_path) {
  if (command.empty() || !IsPlain(command.front())) return "";
  const std::string& program = command.front();
  std::error_code error;
  if (program.find('/') != std::string::npos) {
    const fs::path path = fs::path(directory) / program;
    if (access(path.c_str(), X_OK) != 0) {
      return fmt::format("'{}' is no program on this host", path.string());
    }
  } else if (!has_own_path && !IsProgramOnPath(program)) {
    return fmt::format("'{}' is not on PATH here", program);
  }
  // `python3 train.py …`: the first word that is no option.
  constexpr std::string_view kScript = ".py";
  for (std::size_t i = 1; i < command.size() && !command[i].starts_with('-'); ++i) {
    const fs::path path = fs::path(directory) / command[i];
    const bool is_script = command[i].ends_with(kScript) && IsPlain(command[i]);
    if (is_script && !fs::exists(path, error)) {
      return fmt::format("there is no file '{}'", path.string());
    }
    if (is_script) break;
  }
  return "";
}

void AddMissingPrograms(const TrainingJob& job, std::vector<std::string>& warnings) {
  if (RunsImages(job) || job.input.has_value()) return;
  std::set<std::string> said;
  const auto add = [&](std::string_view field,
                       const std::vector<std::string>& command,
                       const std::string& directory,
                       bool has_own_path) {
    const std::string missing = MissingPart(command, directory, has_own_path);
    if (!missing.empty() && said.insert(missing).second) {
      warnings.push_back(fmt::format("{}: {}; its trials will fail", field, missing));
    }
  };
  const bool has_path = job.env.contains("PATH");
  for (const auto& [role, replica] : job.replicas) {
    const bool is_own = !replica.command.empty();
    add(is_own ? fmt::format("job.replicas.{}.command", RoleName(role, job)) : "job.command",
        is_own ? replica.command : job.command,
        replica.directory.empty() ? job.working_directory : replica.directory,
        has_path || replica.env.contains("PATH"));
  }
}

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
    for (const auto& [name, text] : replica.env) look(field + ".env." + name, text);
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
  if (runs_here) AddMissingPrograms(*spec.job, warnings);
  return warnings;
}

void PrintWarnings(Context& context, const StudySpec& spec) {
  for (const std::string& warning : WarningsOf(spec, context.flags().server.empty())) {
    context.console().err << fmt::format("vernier: warning: {}\n", warning);
  }
}

}  // namespace vernier::cli
