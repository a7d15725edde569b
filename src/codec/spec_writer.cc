#include "absl/strings/escaping.h"
#include "fmt/format.h"
#include "src/codec/argument_form.h"
#include "src/codec/event_json.h"
#include "src/codec/job_reader.h"
#include "src/codec/metric_keys.h"
#include "src/codec/space_reader.h"
#include "src/codec/spec_reader.h"
#include "src/codec/study_file.h"

namespace vernier::codec {
namespace {

Json ObjectiveToJson(const Objective& objective) {
  const char* const key = objective.goal == Goal::kMaximize ? "maximize" : "minimize";
  Json json = Json::object({{key, objective.metric}});
  if (objective.final == FinalValue::kBest) json["final"] = "best";
  if (objective.final == FinalValue::kMeanOfLast) {
    json["final"] = fmt::format("mean_of_last({})", objective.final_count);
  }
  return json;
}

Json ObjectivesToJson(const std::vector<Objective>& objectives) {
  if (objectives.size() == 1) return ObjectiveToJson(objectives.front());
  Json list = Json::array();
  for (const Objective& objective : objectives) list.push_back(ObjectiveToJson(objective));
  return list;
}

Json ChoiceToJson(const Choice& choice, const char* name_key) {
  if (choice.options.empty()) return choice.name;
  Json json = Json::object({{name_key, choice.name}});
  for (const auto& [option, value] : choice.options) json[option] = ValueToJson(value);
  return json;
}

Json BudgetToJson(const Budget& budget) {
  Json json = Json::object();
  if (budget.trials) json["trials"] = *budget.trials;
  if (budget.failed_trials) json["failed"] = *budget.failed_trials;
  if (budget.time) json["time"] = codec::FormatDuration(*budget.time);
  if (budget.gpu_hours) json["gpu_hours"] = *budget.gpu_hours;
  return json;
}

Json MetricsToJson(const std::map<std::string, MetricSource>& metrics) {
  Json json = Json::object();
  for (const auto& [name, source] : metrics) {
    Json& entry = json[name] = Json::object();
    for (const auto& [key, kind] : kMetricSources) {
      if (kind == source.kind) entry[key] = source.text;
    }
    if (!source.folder.empty()) entry["folder"] = source.folder;
    if (source.from.has_value()) entry["from"] = RoleName(*source.from, TrainingJob());
  }
  return json;
}

Json LeaseToJson(const LeasePolicy& lease) {
  const char* const on_expiry = lease.on_expiry == LeaseExpiry::kFail ? "fail" : "offer";
  const bool expires = lease.ttl != absl::InfiniteDuration();
  return {{"ttl", expires ? codec::FormatDuration(lease.ttl) : std::string(kNever)},
          {"on_expiry", on_expiry}};
}

// "rule", or {"rule": …, options …, "when": "asked"}.
Json StoppingToJson(const StudySpec& spec) {
  Json json = ChoiceToJson(spec.stopping, "rule");
  if (!spec.judged_when_asked) return json;
  if (!json.is_object()) json = Json::object({{"rule", spec.stopping.name}});
  json["when"] = kAsked;
  return json;
}

Json ForeignToJson(const ForeignDefinition& foreign) {
  return {{"service", foreign.service},
          {"name", foreign.name},
          {"definition", absl::Base64Escape(foreign.definition)}};
}

}  // namespace

nlohmann::ordered_json StudySpecToJson(const StudySpec& spec) {
  Json json = Json::object();
  json["study"] = spec.name;
  if (!spec.labels.empty()) json["labels"] = spec.labels;
  if (!spec.objectives.empty()) json["objective"] = ObjectivesToJson(spec.objectives);
  if (!spec.objectives.empty() || spec.foreign) {
    json["parameters"] = ParametersToJson(spec.space.parameters());
    if (spec.job) WriteArguments(*spec.job, json["parameters"]);
  }
  if (!spec.space.constraints().empty()) json["constraints"] = spec.space.constraints();
  if (!spec.outcome_constraints.empty()) json["outcome_constraints"] = spec.outcome_constraints;
  json["algorithm"] = ChoiceToJson(spec.algorithm, "name");
  if (!spec.warm_start.empty()) json["warm_start"] = spec.warm_start;
  json["stopping"] = StoppingToJson(spec);
  json["parallel"] = spec.parallel;
  if (spec.budget != Budget{}) json["budget"] = BudgetToJson(spec.budget);
  if (spec.convergence) {
    json["convergence"] = {{"tolerance", spec.convergence->tolerance},
                           {"stop", spec.convergence->stop}};
  }
  json["seed"] = spec.seed;
  if (!spec.metrics.empty()) json["metrics"] = MetricsToJson(spec.metrics);
  json["lease"] = LeaseToJson(spec.lease);
  if (spec.job) json["job"] = JobToJson(*spec.job);
  if (spec.foreign) json["foreign"] = ForeignToJson(*spec.foreign);
  return json;
}

// A file defines a study of its own, whatever this one was made from.
std::string StudySpecToYaml(const StudySpec& spec) {
  Json json = StudySpecToJson(spec);
  json.erase("foreign");
  return JsonToYaml(json);
}

}  // namespace vernier::codec
