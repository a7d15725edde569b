// `jobs describe` answers with the JSON that `gcloud ai-platform jobs describe` gives, since scripts read it: the API's
// names of fields and states, 64-bit integers as text (as in proto3 JSON), times in RFC 3339. Fields of Vernier's own
// (resourcesUsed, utilization, waitingReason) are added, none is renamed.

#include "src/cli/job_description.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/terminal/figures.h"
#include "src/codec/job_form.h"
#include "src/codec/training_input_json.h"
#include "src/core/objectives.h"
#include "src/jobs/job_name.h"
#include "src/jobs/utilization.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

// Jobs and trials share their states in the API.
std::string TrialStateText(TrialState state) {
  switch (state) {
    case TrialState::kRequested:
    case TrialState::kQueued:
      return "QUEUED";
    case TrialState::kPreparing:
      return "PREPARING";
    case TrialState::kRunning:
    case TrialState::kPaused:
      return "RUNNING";
    case TrialState::kStopping:
      return "CANCELLING";
    case TrialState::kCompleted:
      return "SUCCEEDED";
    case TrialState::kFailed:
    case TrialState::kInfeasible:
      return "FAILED";
    case TrialState::kCancelled:
      return "CANCELLED";
  }
  return "STATE_UNSPECIFIED";
}

std::optional<absl::Time> StartOf(const std::vector<TrialRecord>& trials) {
  std::optional<absl::Time> start;
  for (const TrialRecord& trial : trials) {
    const std::optional<absl::Time>& started = trial.trial.started;
    if (started && (!start || *started < *start)) start = started;
  }
  return start;
}

// Whether the job was ended at its maxRunningTime, for which the API says CANCELLED. Without tuning, its only trial
// then failed with a timeout; a tuning job was stopped as a study, together with the trials that still ran.
bool RanTooLong(const Study& study, const std::vector<TrialRecord>& trials) {
  if (!HasRunningTime(study)) return false;
  const bool alone = study.spec.objectives.empty();
  if (study.state != (alone ? StudyState::kFailed : StudyState::kCompleted)) return false;
  return std::ranges::any_of(trials, [alone](const TrialRecord& record) {
    const Trial& trial = record.trial;
    return alone ? trial.failure == FailureClass::kTimeout
                 : trial.stop.has_value() && trial.stop->rule == "study";
  });
}

// The end of its last trial. Not the last update of the study: labels may change afterwards.
std::optional<absl::Time> EndOfJob(const Study& study, const std::vector<TrialRecord>& trials) {
  if (!IsFinished(study.state)) return std::nullopt;
  std::optional<absl::Time> end;
  // std::max takes an absent time for the least.
  for (const TrialRecord& trial : trials) end = std::max(end, trial.trial.ended);
  // Without trials there is no better time.
  return end.value_or(study.updated);
}

Json UsageJson(const ResourceUsage& used) {
  return {{"cpuTime", fmt::format("{}s", absl::ToDoubleSeconds(used.cpu_time))},
          {"gpuTime", fmt::format("{}s", absl::ToDoubleSeconds(used.gpu_time))},
          {"peakMemoryBytes", std::to_string(used.peak_memory_bytes)}};
}

// Messages of failed trials, each once, with the first trial that had it; messages contained in `known` are left out.
std::string CausesOf(const std::vector<TrialRecord>& trials, std::string_view known) {
  // A choice: errorMessage is one line.
  constexpr std::size_t kMostCauses = 3;
  std::vector<std::string> causes;
  std::set<std::string_view> said;
  for (const TrialRecord& record : trials) {
    const std::string& message = record.trial.message;
    if (record.trial.state != TrialState::kFailed || message.empty()) continue;
    if (known.find(message) != std::string_view::npos || !said.insert(message).second) continue;
    if (causes.size() < kMostCauses) {
      causes.push_back(fmt::format("trial {}: {}", record.trial.number.value(), message));
    }
  }
  return fmt::format("{}", fmt::join(causes, "; "));
}

// Why the job failed or was cancelled. Without tuning, the message of its trial says more than the study's.
std::string ErrorOf(const Study& study, const std::vector<TrialRecord>& trials) {
  const std::string state = JobState(study, trials);
  if (state != "FAILED" && state != "CANCELLED") return "";
  const bool alone = study.spec.objectives.empty() && trials.size() == 1;
  const std::string& message = alone ? trials.front().trial.message : study.reason;
  if (alone) return message.empty() ? study.reason : message;
  const std::string causes = state == "FAILED" ? CausesOf(trials, message) : "";
  if (causes.empty() || message.empty()) return message + causes;
  return fmt::format("{}; {}", message, causes);
}

Json MetricJson(const Trial& trial, const Objective& objective) {
  const std::optional<double> value = ObjectiveOf(trial, objective.metric);
  // JSON has no such numbers.
  if (!value || !std::isfinite(*value)) return nullptr;
  Json metric = {{"objectiveValue", *value}};
  if (trial.last) metric["trainingStep"] = std::to_string(trial.last->step);
  return metric;
}

Json TrialJson(const Trial& trial, const StudySpec& spec) {
  const Objective& objective = FirstObjective(spec);
  Json json = {{"trialId", std::to_string(trial.number.value())}};
  Json& values = json["hyperparameters"] = Json::object();
  for (const auto& [name, value] : trial.point) values[name] = FormatValue(value);
  if (Json metric = MetricJson(trial, objective); !metric.is_null()) {
    json["finalMetric"] = std::move(metric);
  }
  json["state"] = TrialStateText(trial.state);
  if (trial.started) json["startTime"] = TimeText(*trial.started);
  if (trial.ended) json["endTime"] = TimeText(*trial.ended);
  if (!trial.message.empty() && trial.state != TrialState::kCompleted) {
    json["errorMessage"] = trial.message;
  }
  // Only a stop by a rule counts as early, and only rules have a version; users and studies that end do not.
  if (trial.stop && !trial.stop->version.empty()) json["isTrialStoppedEarly"] = true;
  if (Json utilization = UtilizationToJson(spec, trial); !utilization.is_null()) {
    json["utilization"] = std::move(utilization);
  }
  return json;
}

// The API lists the best trial first, and programs rely on it.
std::vector<const Trial*> BestFirst(const std::vector<TrialRecord>& trials,
                                    const Objective& objective) {
  std::vector<const Trial*> sorted;
  sorted.reserve(trials.size());
  for (const TrialRecord& trial : trials) sorted.push_back(&trial.trial);
  // NaN is worse than any value, so that trials without one come last.
  const auto value_of = [&](const Trial* trial) {
    if (trial->state != TrialState::kCompleted) return std::numeric_limits<double>::quiet_NaN();
    return ObjectiveOf(*trial, objective.metric).value_or(std::numeric_limits<double>::quiet_NaN());
  };
  std::ranges::stable_sort(sorted, [&](const Trial* a, const Trial* b) {
    return IsBetter(objective.goal, value_of(a), value_of(b));
  });
  return sorted;
}

Json OutputJson(const Study& study, const std::vector<TrialRecord>& trials) {
  const Objective& objective = FirstObjective(study.spec);
  Json output = {{"completedTrialCount", std::to_string(study.completed)},
                 {"isHyperparameterTuningJob", true},
                 {"hyperparameterMetricTag", objective.metric}};
  Json& list = output["trials"] = Json::array();
  for (const Trial* trial : BestFirst(trials, objective)) {
    list.push_back(TrialJson(*trial, study.spec));
  }
  return output;
}

std::string JsonText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string TableLines(const Table& table, const TableOptions& options) {
  return fmt::format("{}\n", fmt::join(table.Lines(options), "\n"));
}

// The object's fields, except those with tables of their own.
std::string FieldTable(const char* title, const Json& object, const TableOptions& options) {
  Table table({{.name = title}, {.name = "VALUE", .flexible = true, .wraps = true}});
  for (const auto& [key, value] : object.items()) {
    const bool is_apart =
        key == "trainingInput" || key == "trainingOutput" || key == "hyperparameters";
    if (!is_apart) table.AddRow({{key}, {JsonText(value)}});
  }
  return TableLines(table, options);
}

std::string TrialLines(const Json& trials, const TableOptions& options) {
  // For people, in the order of numbers; the API's order is by value.
  std::vector<Json> sorted(trials.begin(), trials.end());
  std::ranges::sort(sorted, {}, [](const Json& trial) {
    std::int64_t number = 0;
    return absl::SimpleAtoi(JsonText(trial["trialId"]), &number) ? number : 0;
  });
  Table table({{.name = "TRIAL", .align = Align::kRight},
               {.name = "STATE"},
               {.name = "OBJECTIVE", .align = Align::kRight},
               {.name = "STEP", .align = Align::kRight},
               {.name = "HYPERPARAMETERS", .flexible = true, .wraps = true}});
  for (const Json& trial : sorted) {
    std::string objective = "-";
    std::string step = "-";
    if (trial.contains("finalMetric")) {
      objective = FormatFigure(trial["finalMetric"]["objectiveValue"].get<double>());
      step = JsonText(trial["finalMetric"].value("trainingStep", Json("-")));
    }
    std::string values;
    for (const auto& [name, value] : trial["hyperparameters"].items()) {
      values += fmt::format("{}{}={}", values.empty() ? "" : " ", name, JsonText(value));
    }
    table.AddRow(
        {{JsonText(trial["trialId"])}, {JsonText(trial["state"])}, {objective}, {step}, {values}});
  }
  return TableLines(table, options);
}

}  // namespace

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

bool HasRunningTime(const Study& study) {
  const bool has_input = study.spec.job.has_value() && study.spec.job->input.has_value();
  return has_input && study.spec.job->input->scheduling.has_value() &&
         study.spec.job->input->scheduling->max_running_time.has_value();
}

std::string JobState(const Study& study, const std::vector<TrialRecord>& trials) {
  // Asked first, as the state of such a job says SUCCEEDED or FAILED.
  if (RanTooLong(study, trials)) return "CANCELLED";
  switch (study.state) {
    case StudyState::kCompleted:
      return "SUCCEEDED";
    case StudyState::kFailed:
      return "FAILED";
    case StudyState::kCancelled:
      return "CANCELLED";
    case StudyState::kStopping:
      return "CANCELLING";
    case StudyState::kActive:
    case StudyState::kPaused:
      break;
  }
  // Once a trial has started, the job counts as running, even if no trial runs at this moment.
  if (StartOf(trials)) return "RUNNING";
  const bool preparing = std::ranges::any_of(
      trials, [](const TrialRecord& trial) { return trial.trial.state == TrialState::kPreparing; });
  return preparing ? "PREPARING" : "QUEUED";
}

nlohmann::ordered_json UtilizationToJson(const StudySpec& spec, const Trial& trial) {
  if (!spec.job) return nullptr;
  const jobs::Utilization utilization = jobs::UtilizationOf(*spec.job, trial);
  Json json;
  for (const auto& [key, share] : {std::pair("cpus", utilization.cpus),
                                   std::pair("memory", utilization.memory),
                                   std::pair("gpus", utilization.gpus),
                                   std::pair("peakGpus", utilization.peak_gpus),
                                   std::pair("gpuMemory", utilization.gpu_memory)}) {
    // Three decimals: the measurement is no more exact.
    if (share) json[key] = std::round(*share * 1000) / 1000;
  }
  return json;
}

nlohmann::ordered_json JobToJson(const StudyRecord& record,
                                 const std::vector<TrialRecord>& trials,
                                 const std::optional<JobWait>& wait) {
  const Study& study = record.study;
  Json job = {{"jobId", jobs::JobNameOf(study.spec.name).job},
              {"state", JobState(study, trials)},
              {"createTime", TimeText(study.created)}};
  if (const auto start = StartOf(trials)) job["startTime"] = TimeText(*start);
  if (const auto end = EndOfJob(study, trials)) job["endTime"] = TimeText(*end);
  if (const std::string error = ErrorOf(study, trials); !error.empty()) job["errorMessage"] = error;
  if (wait) {
    job["jobPosition"] = std::to_string(wait->position);
    job["waitingReason"] = wait->reason;
  }
  // Changes with every change of the job, which is all that an etag promises.
  job["etag"] = fmt::format("{:x}", study.last_event.value());
  if (!study.spec.labels.empty()) job["labels"] = study.spec.labels;
  if (study.used != ResourceUsage{}) job["resourcesUsed"] = UsageJson(study.used);
  if (study.spec.objectives.empty() && trials.size() == 1) {
    Json utilization = UtilizationToJson(study.spec, trials.front().trial);
    if (!utilization.is_null()) job["utilization"] = std::move(utilization);
  }
  if (study.spec.job && study.spec.job->input) {
    job["trainingInput"] =
        codec::TrainingInputToJson(*study.spec.job->input, codec::FieldNames::kCamelCase);
    Json restarts = codec::FileForm<RestartPolicy>::Write(study.spec.job->restarts);
    if (!restarts.empty()) job["restarts"] = std::move(restarts);
  }
  if (!study.spec.objectives.empty()) job["trainingOutput"] = OutputJson(study, trials);
  return job;
}

std::string SummarizeJob(const nlohmann::ordered_json& job, const TableOptions& options) {
  std::string text = FieldTable("JOB", job, options);
  if (job.contains("trainingInput"))
    text += "\n" + FieldTable("INPUT", job["trainingInput"], options);
  if (job.contains("trainingOutput")) {
    text += "\n" + TrialLines(job["trainingOutput"]["trials"], options);
  }
  return text;
}

}  // namespace vernier::cli
