#include "src/cli/study_warnings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "fmt/format.h"

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

}  // namespace

std::vector<std::string> WarningsOf(const StudySpec& spec) {
  std::vector<std::string> warnings;
  if (!spec.job.has_value()) return warnings;  // Its clients decide how long it goes on.
  if (!IsBounded(spec)) {
    warnings.emplace_back(
        "budget: the study runs for ever: it has infinitely many points and no bound on trials or "
        "time; `budget: {trials: 100}` ends it");
  }
  AddMissingPrograms(*spec.job, warnings);
  return warnings;
}

}  // namespace vernier::cli
