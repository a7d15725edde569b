#include "src/codec/job_file.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/codec/input_paths.h"
#include "src/codec/job_form.h"
#include "src/codec/mapping.h"
#include "src/codec/training_input_json.h"
#include "vernier/core/error.h"

namespace vernier::codec {
namespace {

constexpr char kRestarts[] = "restarts";
// What AI Platform Training calls the metric if the job does not name it.
constexpr char kDefaultTag[] = "training/hptuning/metric";
// Most values of a DISCRETE parameter, as in that API.
constexpr std::size_t kMaxValues = 1000;

bool IsJobId(const std::string& text) {
  return !text.empty() && text.size() <= 128 && absl::ascii_isalpha(text.front()) &&
         std::ranges::all_of(text,
                             [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

absl::StatusOr<std::string> ReadJobId(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(std::string id, ReadText(json, path));
  if (IsJobId(id)) return id;
  return FieldError(path, fmt::format("must match ^[A-Za-z][A-Za-z0-9_]{{0,127}}$, got '{}'", id));
}

// `value`, which the API names, among those that it allows; the first one is what an empty text stands for.
template <typename T, std::size_t N>
absl::StatusOr<T> OneOf(const std::string& path,
                        const std::string& value,
                        const std::pair<const char*, T> (&choices)[N]) {
  if (value.empty()) return choices[0].second;
  std::vector<std::string> names;
  for (const auto& [name, choice] : choices) {
    if (value == name) return choice;
    names.emplace_back(name);
  }
  return FieldError(path,
                    fmt::format("must be one of {}, got '{}'", fmt::join(names, ", "), value));
}

// One entry of hyperparameters.params, as a parameter of a space.
class ParamReader {
 public:
  ParamReader(const HyperparameterParam& param, std::string path)
      : param_(param), path_(std::move(path)) {}

  // Errors are about the field of the API, and not about the parameter that it becomes.
  absl::StatusOr<Parameter> Read() const {
    if (param_.parameter_name.empty()) return Error("parameterName", "is missing");
    Parameter parameter;
    parameter.name = param_.parameter_name;
    VERNIER_ASSIGN_OR_RETURN(parameter.domain, ReadDomain());
    return parameter;
  }

 private:
  absl::Status Error(std::string_view key, std::string_view message) const {
    return FieldError(fmt::format("{}.{}", path_, key), message);
  }

  absl::StatusOr<Domain> ReadDomain() const {
    if (param_.type == "DOUBLE") return ReadFloat();
    if (param_.type == "INTEGER") return ReadInt();
    if (param_.type == "DISCRETE") return ReadDiscrete();
    if (param_.type == "CATEGORICAL") return ReadCategorical();
    return Error("type",
                 fmt::format("must be one of DOUBLE, INTEGER, CATEGORICAL, DISCRETE, got '{}'",
                             param_.type));
  }

  absl::StatusOr<Scale> ReadScale() const {
    return OneOf<Scale>(path_ + ".scaleType",
                        param_.scale_type,
                        {{"NONE", Scale::kLinear},
                         {"UNIT_LINEAR_SCALE", Scale::kLinear},
                         {"UNIT_LOG_SCALE", Scale::kLog},
                         {"UNIT_REVERSE_LOG_SCALE", Scale::kReverseLog}});
  }

  absl::Status CheckRange(Scale scale) const {
    if (!param_.min_value.has_value()) return Error("minValue", "is missing");
    if (!param_.max_value.has_value()) return Error("maxValue", "is missing");
    if (*param_.min_value >= *param_.max_value) {
      return Error(
          "maxValue",
          fmt::format(
              "must be above minValue, which is {}, got {}", *param_.min_value, *param_.max_value));
    }
    if (scale == Scale::kLinear || *param_.min_value > 0) return absl::OkStatus();
    return Error(
        "minValue",
        fmt::format("must be above 0 on scale {}, got {}", param_.scale_type, *param_.min_value));
  }

  absl::StatusOr<Domain> ReadFloat() const {
    VERNIER_ASSIGN_OR_RETURN(const Scale scale, ReadScale());
    VERNIER_RETURN_IF_ERROR(CheckRange(scale));
    return FloatDomain{.lower = *param_.min_value, .upper = *param_.max_value, .scale = scale};
  }

  absl::StatusOr<Domain> ReadInt() const {
    // Beyond 2^53 not every whole number is a double, so that the user may mean another one.
    constexpr double kExact = 9007199254740992.0;
    VERNIER_ASSIGN_OR_RETURN(const Scale scale, ReadScale());
    VERNIER_RETURN_IF_ERROR(CheckRange(scale));
    for (const auto& [key, value] :
         {std::pair("minValue", *param_.min_value), std::pair("maxValue", *param_.max_value)}) {
      if (value == std::floor(value) && std::abs(value) <= kExact) continue;
      return Error(key, fmt::format("must be a whole number for type INTEGER, got {}", value));
    }
    return IntDomain{.lower = static_cast<std::int64_t>(*param_.min_value),
                     .upper = static_cast<std::int64_t>(*param_.max_value),
                     .scale = scale};
  }

  absl::StatusOr<Domain> ReadDiscrete() const {
    const std::vector<double>& values = param_.discrete_values;
    // It changes nothing for listed values, but a wrong name is an error all the same.
    VERNIER_RETURN_IF_ERROR(ReadScale().status());
    if (values.empty() || values.size() > kMaxValues) {
      return Error("discreteValues",
                   fmt::format("must hold from 1 to {} values, got {}", kMaxValues, values.size()));
    }
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (values[i] > values[i - 1]) continue;
      return Error(
          fmt::format("discreteValues[{}]", i),
          fmt::format("must be above the value before it, {}, got {}", values[i - 1], values[i]));
    }
    return DiscreteDomain{.values = values};
  }

  absl::StatusOr<Domain> ReadCategorical() const {
    if (param_.categorical_values.empty()) return Error("categoricalValues", "must not be empty");
    if (!param_.scale_type.empty() && param_.scale_type != "NONE") {
      return Error(
          "scaleType",
          fmt::format("must be left out for type CATEGORICAL, got '{}'", param_.scale_type));
    }
    return CategoricalDomain{
        .values = {param_.categorical_values.begin(), param_.categorical_values.end()}};
  }

  const HyperparameterParam& param_;
  const std::string path_;
};

absl::StatusOr<Space> ReadParams(const HyperparameterSpec& tuning, const std::string& path) {
  if (tuning.params.empty()) return FieldError(path + ".params", "must name a parameter");
  std::vector<Parameter> parameters;
  // Space::Create would tell, too, but of the path in a study.
  std::set<std::string> names;
  for (std::size_t i = 0; i < tuning.params.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(
        parameters.emplace_back(),
        ParamReader(tuning.params[i], fmt::format("{}.params[{}]", path, i)).Read());
    if (names.insert(parameters[i].name).second) continue;
    return FieldError(fmt::format("{}.params[{}].parameterName", path, i),
                      fmt::format("'{}' is there twice", parameters[i].name));
  }
  return Space::Create(std::move(parameters));
}

// A job file cannot say how many points a DOUBLE has on a grid.
absl::Status CheckGrid(const HyperparameterSpec& tuning) {
  if (tuning.algorithm != "GRID_SEARCH") return absl::OkStatus();
  for (std::size_t i = 0; i < tuning.params.size(); ++i) {
    if (tuning.params[i].type != "DOUBLE") continue;
    return FieldError(fmt::format("{}.hyperparameters.params[{}].type", kTrainingInput, i),
                      "GRID_SEARCH needs INTEGER, CATEGORICAL or DISCRETE, got DOUBLE");
  }
  return absl::OkStatus();
}

// Unset is 1, and less is no number of trials.
absl::StatusOr<std::int32_t> ReadCount(std::int32_t count, const std::string& path) {
  if (count >= 0) return std::max(count, 1);
  return FieldError(path, fmt::format("must be at least 1, got {}", count));
}

absl::Status ReadTuning(const TrainingInput& input, StudySpec& spec) {
  const HyperparameterSpec& tuning = *input.hyperparameters;
  const std::string path = std::string(kTrainingInput) + ".hyperparameters";
  Objective& objective = spec.objectives.emplace_back();
  objective.metric =
      tuning.hyperparameter_metric_tag.empty() ? kDefaultTag : tuning.hyperparameter_metric_tag;
  // Unset is MAXIMIZE, as in that API.
  VERNIER_ASSIGN_OR_RETURN(objective.goal,
                           OneOf<Goal>(path + ".goal",
                                       tuning.goal,
                                       {{"GOAL_TYPE_UNSPECIFIED", Goal::kMaximize},
                                        {"MAXIMIZE", Goal::kMaximize},
                                        {"MINIMIZE", Goal::kMinimize}}));
  VERNIER_ASSIGN_OR_RETURN(
      spec.algorithm.name,
      OneOf<const char*>(
          path + ".algorithm",
          tuning.algorithm,
          {{"ALGORITHM_UNSPECIFIED", "gp"}, {"GRID_SEARCH", "grid"}, {"RANDOM_SEARCH", "random"}}));
  VERNIER_ASSIGN_OR_RETURN(spec.space, ReadParams(tuning, path));
  VERNIER_ASSIGN_OR_RETURN(spec.budget.trials, ReadCount(tuning.max_trials, path + ".maxTrials"));
  VERNIER_ASSIGN_OR_RETURN(spec.parallel,
                           ReadCount(tuning.max_parallel_trials, path + ".maxParallelTrials"));
  if (tuning.max_failed_trials < 0) {
    return FieldError(path + ".maxFailedTrials",
                      fmt::format("must not be negative, got {}", tuning.max_failed_trials));
  }
  // 0 is the same as unset.
  if (tuning.max_failed_trials > 0) spec.budget.failed_trials = tuning.max_failed_trials;
  // It bounds the whole search, not each of its trials.
  if (input.scheduling.has_value()) spec.budget.time = input.scheduling->max_running_time;
  if (tuning.enable_trial_early_stopping) spec.stopping.name = std::string(kAutomaticRule);
  if (!tuning.resume_previous_job_id.empty()) spec.warm_start = {tuning.resume_previous_job_id};
  return absl::OkStatus();
}

}  // namespace

bool IsJobFile(const nlohmann::ordered_json& document) {
  return document.is_object() && document.contains(kTrainingInput);
}

absl::StatusOr<StudySpec> ReadJobFile(const nlohmann::ordered_json& document,
                                      UnknownKeys unknown_keys) {
  StudySpec spec;
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping file,
      Mapping::Open(document, "", {"jobId", "labels", kRestarts, kTrainingInput}, unknown_keys));
  if (file.Find("jobId") == nullptr) {
    return FieldError("jobId", "is missing; give the job a name in the file or with --name");
  }
  VERNIER_RETURN_IF_ERROR(file.Read("jobId", spec.name, &ReadJobId));
  VERNIER_RETURN_IF_ERROR(file.Read("labels", spec.labels, &ReadTextMap));
  VERNIER_ASSIGN_OR_RETURN(const Json* input, file.Require(kTrainingInput));
  TrainingJob& job = spec.job.emplace();
  VERNIER_ASSIGN_OR_RETURN(job.input, ReadTrainingInput(*input, kTrainingInput, unknown_keys));
  if (const Json* const restarts = file.Find(kRestarts)) {
    VERNIER_RETURN_IF_ERROR(
        FileForm<RestartPolicy>::Read(*restarts, {kRestarts, unknown_keys}, job.restarts));
  }
  VERNIER_RETURN_IF_ERROR(ApplyHyperparameters(spec));
  // Without hyperparameters there is one trial, and nothing to compare it with.
  if (spec.objectives.empty()) MakeJobAlone(spec);
  VERNIER_RETURN_IF_ERROR(InWordsOfJobFile(Validate(spec), spec));
  return spec;
}

absl::Status ApplyHyperparameters(StudySpec& spec) {
  if (!spec.job.has_value() || !spec.job->input.has_value() ||
      !spec.job->input->hyperparameters.has_value()) {
    return absl::OkStatus();
  }
  const TrainingInput& input = *spec.job->input;
  // The input is all that says what to tune.
  if (spec.objectives.empty() && spec.space.parameters().empty()) {
    VERNIER_RETURN_IF_ERROR(InWordsOfInput(ReadTuning(input, spec), spec));
    return CheckGrid(*input.hyperparameters);
  }
  // A study that came with an input and has been stored has both. They must agree, or one of them would not count.
  StudySpec said;
  VERNIER_RETURN_IF_ERROR(InWordsOfInput(ReadTuning(input, said), spec));
  if (said.objectives == spec.objectives && said.space == spec.space) return absl::OkStatus();
  return FieldError("job.trainingInput.hyperparameters",
                    "says something else than the study's objective and parameters; leave one out");
}

void MakeJobAlone(StudySpec& spec) {
  spec.budget.trials = 1;
  spec.algorithm.name = "grid";  // Of a space without parameters it has the one point.
}

}  // namespace vernier::codec
