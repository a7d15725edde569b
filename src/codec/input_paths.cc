#include "src/codec/input_paths.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/codec/training_input_json.h"
#include "vernier/core/error.h"

namespace vernier::codec {
namespace {

constexpr char kParams[] = "trainingInput.hyperparameters.params";

// From the path in a study to the one in the input; a place in a list, "[2]", may follow. The first that fits is used.
using Renaming = std::pair<std::string, std::string>;

std::vector<Renaming> ParamRenamings(const HyperparameterSpec& tuning) {
  std::vector<Renaming> renamings = {{"parameters", kParams}};
  for (std::size_t i = 0; i < tuning.params.size(); ++i) {
    const std::string from = fmt::format("parameters.{}", tuning.params[i].parameter_name);
    const std::string to = fmt::format("{}[{}]", kParams, i);
    // At the front: these are more exact than "parameters", which fits an error about the whole list.
    renamings.insert(renamings.begin(),
                     {{fmt::format("parameters[{}].name", i), to + ".parameterName"},
                      {from + ".float[0]", to + ".minValue"},
                      {from + ".float[1]", to + ".maxValue"},
                      // An error about a domain as a whole is one about the parameter's type.
                      {from + ".float", to + ".type"},
                      {from + ".int[0]", to + ".minValue"},
                      {from + ".int[1]", to + ".maxValue"},
                      {from + ".int", to + ".type"},
                      {from + ".discrete", to + ".discreteValues"},
                      {from + ".categorical", to + ".categoricalValues"}});
  }
  return renamings;
}

// What a study may say itself beside a training input is renamed only if it is what the input says.
std::vector<Renaming> TuningRenamings(const TrainingInput& input, const StudySpec& spec) {
  const HyperparameterSpec& tuning = *input.hyperparameters;
  std::vector<Renaming> renamings = ParamRenamings(tuning);
  const auto add = [&](const char* from, std::string_view to, bool is_of_input) {
    if (is_of_input) renamings.emplace_back(from, fmt::format("{}.{}", kTrainingInput, to));
  };
  // The objective is the input's, or equal to it: see ApplyHyperparameters.
  add("objective", "hyperparameters.hyperparameterMetricTag", true);
  add("algorithm", "hyperparameters.algorithm", spec.algorithm.options.empty());
  add("parallel", "hyperparameters.maxParallelTrials", spec.parallel == tuning.max_parallel_trials);
  const bool resumes = spec.warm_start == std::vector<std::string>{tuning.resume_previous_job_id};
  add("warm_start[0]", "hyperparameters.resumePreviousJobId", resumes);
  add("warm_start", "hyperparameters.resumePreviousJobId", resumes);
  add("budget.time",
      "scheduling.maxRunningTime",
      input.scheduling.has_value() && input.scheduling->max_running_time == spec.budget.time);
  return renamings;
}

std::vector<Renaming> JobRenamings() {
  std::vector<Renaming> renamings = {
      {"job.python.packages", "trainingInput.packageUris"},
      {"job.python.module", "trainingInput.pythonModule"},
      {"job.args", "trainingInput.args"},
      {"job.dir", "trainingInput.jobDir"},
      {"job.image", "trainingInput.masterConfig.imageUri"},
  };
  for (const auto& [role, name] : {std::pair("chief", "master"),
                                   std::pair("master", "master"),
                                   std::pair("worker", "worker"),
                                   std::pair("ps", "parameterServer"),
                                   std::pair("evaluator", "evaluator")}) {
    for (const auto& [key, field] : {std::pair("count", "Count"),
                                     std::pair("image", "Config.imageUri"),
                                     std::pair("command", "Config.containerCommand"),
                                     std::pair("args", "Config.containerArgs")}) {
      renamings.emplace_back(fmt::format("job.replicas.{}.{}", role, key),
                             fmt::format("{}.{}{}", kTrainingInput, name, field));
    }
  }
  return renamings;
}

absl::Status Renamed(const absl::Status& error, const std::vector<Renaming>& renamings) {
  const std::string field = GetField(error).value_or("");
  for (const auto& [from, to] : renamings) {
    if (field.empty() || !field.starts_with(from)) continue;
    // "job.args" must not rename "job.argsX" or "job.args.x".
    const std::string place = field.substr(from.size());
    if (!place.empty() && place.front() != '[') continue;
    // Past the old path and the ": " behind it.
    return FieldError(to + place, std::string(error.message()).substr(field.size() + 2));
  }
  return error;
}

// What a job file has beside the input, where a study file has it in the job.
const std::vector<Renaming>& FileRenamings() {
  // Never destroyed, as errors may be made while the process exits.
  static const auto& renamings = *new std::vector<Renaming>{
      {"job.restarts.replica", "restarts.replica"},
      {"job.restarts.job", "restarts.job"},
      {"job.restarts.internal", "restarts.internal"},
  };
  return renamings;
}

}  // namespace

absl::Status InWordsOfJobFile(absl::Status error, const StudySpec& spec) {
  // The input first: what it renames is no path of a study any more.
  return Renamed(InWordsOfInput(std::move(error), spec), FileRenamings());
}

absl::Status InWordsOfInput(absl::Status error, const StudySpec& spec) {
  if (error.ok() || !spec.job.has_value() || !spec.job->input.has_value()) return error;
  const TrainingInput& input = *spec.job->input;
  // The second renaming finds nothing where the first has found something.
  if (input.hyperparameters.has_value()) error = Renamed(error, TuningRenamings(input, spec));
  return Renamed(error, JobRenamings());
}

}  // namespace vernier::codec
