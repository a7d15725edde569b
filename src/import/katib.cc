// An Experiment of Katib, apiVersion kubeflow.org/v1beta1: https://www.kubeflow.org/docs/components/katib/experiment/

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "src/codec/json_text.h"
#include "src/core/status.h"
#include "src/import/definitions.h"
#include "src/import/input.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

using End = SourceTrial::End;

// Bounds of failed trials from which on there is none. A choice, far above any use.
constexpr std::int64_t kMostFailed = 1'000'000;

absl::StatusOr<Json> KatibDomain(const std::string& path, const Json& parameter, SourceStudy& out) {
  const std::string type = TextMember(parameter, "parameterType");
  const Json& space = Member(parameter, "feasibleSpace");
  if (type == "categorical" || type == "discrete") {
    const Json& list = Member(space, "list");
    if (!list.is_array() || list.empty())
      return FieldError(path + ".feasibleSpace.list", "must be a list");
    if (type == "categorical") return Json{{"categorical", list}};
    Json values = Json::array();
    for (const Json& value : list) values.push_back(NumberIn(value));
    std::sort(values.begin(), values.end());
    return Json{{"discrete", values}};
  }
  if (type != "double" && type != "int") {
    return FieldError(path + ".parameterType", fmt::format("unknown type '{}'", type));
  }
  const Json low = NumberIn(Member(space, "min"));
  const Json high = NumberIn(Member(space, "max"));
  if (low.is_null() || high.is_null())
    return FieldError(path + ".feasibleSpace", "needs numbers min and max");
  Json domain = {{type == "int" ? "int" : "float", {low, high}}};
  const std::string distribution = TextMember(space, "distribution");
  if (distribution == "logUniform") domain["scale"] = "log";
  if (distribution == "normal" || distribution == "logNormal") {
    out.Note(fmt::format("{}.feasibleSpace.distribution: {} is even here", path, distribution));
    if (distribution == "logNormal") domain["scale"] = "log";
  }
  const Json step = NumberIn(Member(space, "step"));
  if (!step.is_null() && !domain.contains("scale")) domain["step"] = step;
  return domain;
}

absl::Status SetKatibSpace(const Json& spec, SourceStudy& out) {
  out.parameters() = Json::object();
  for (const Json& parameter : Member(spec, "parameters")) {
    const std::string name = TextMember(parameter, "name");
    VERNIER_ASSIGN_OR_RETURN(out.parameters()[name],
                             KatibDomain("spec.parameters." + name, parameter, out));
  }
  return absl::OkStatus();
}

void SetObjective(const Json& objective, SourceStudy& out) {
  const bool is_up = TextMember(objective, "type") == "maximize";
  const std::string metric = TextMember(objective, "objectiveMetricName");
  Json definition = {{is_up ? "maximize" : "minimize", metric}};
  for (const Json& strategy : Member(objective, "metricStrategies")) {
    if (TextMember(strategy, "name") != metric) continue;
    const std::string value = TextMember(strategy, "value");
    // Katib's default counts the best value, "latest" the last one.
    if (value == (is_up ? "max" : "min")) definition["final"] = "best";
  }
  out.definition["objective"] = std::move(definition);
  if (!Member(objective, "goal").is_null()) {
    out.Note(fmt::format("spec.objective.goal: left out; `vernier study finish` ends a study at {}",
                         codec::ToText(Member(objective, "goal"))));
  }
}

void SetKatibSearch(const Json& spec, SourceStudy& out) {
  const std::map<std::string, std::string> known = {
      {"random", "random"}, {"grid", "grid"}, {"sobol", "quasi-random"}};
  const std::string name = TextMember(Member(spec, "algorithm"), "algorithmName");
  const auto at = known.find(name);
  out.definition["algorithm"] = at == known.end() ? "gp" : at->second;
  if (at == known.end()) out.Note(fmt::format("spec.algorithm: '{}' of Katib is gp here", name));
  NoteLeftOut(Member(spec, "algorithm"), "spec.algorithm", {"algorithmName"}, out);
  const auto set = [&](const char* from, const char* to) {
    const Json number = NumberIn(Member(spec, from));
    if (!number.is_null()) out.definition["budget"][to] = number;
  };
  set("maxTrialCount", "trials");
  // Katib fails with more than so many failed trials, Vernier with so many.
  const Json failed = NumberIn(Member(spec, "maxFailedTrialCount"));
  const bool is_bound = failed.is_number_integer() && failed < kMostFailed;
  if (is_bound) out.definition["budget"]["failed"] = failed.get<std::int64_t>() + 1;
  const Json parallel = NumberIn(Member(spec, "parallelTrialCount"));
  if (!parallel.is_null()) out.definition["parallel"] = parallel;
  const std::string rule = TextMember(Member(spec, "earlyStopping"), "algorithmName");
  if (rule == "medianstop") out.definition["stopping"] = "median";
  if (!rule.empty() && rule != "medianstop")
    out.Note(fmt::format("spec.earlyStopping: '{}' is left out", rule));
  NoteLeftOut(Member(spec, "earlyStopping"), "spec.earlyStopping", {"algorithmName"}, out);
}

// --- the job ---

const Json& PodOf(const Json& trial_spec) {
  return Member(Member(Member(trial_spec, "spec"), "template"), "spec");
}

const Json& ContainerOf(const Json& spec) {
  static const Json kNone;
  const Json& job = Member(Member(spec, "trialTemplate"), "trialSpec");
  const std::string primary = TextMember(Member(spec, "trialTemplate"), "primaryContainerName");
  const Json& containers = Member(PodOf(job), "containers");
  for (const Json& container : containers) {
    if (primary.empty() || containers.size() == 1 || TextMember(container, "name") == primary)
      return container;
  }
  return kNone;
}

// "${trialParameters.learningRate}" is {lr} in Vernier. Other braces are none of ours, and stay as they are.
Json WordsOf(const Json& words, const std::map<std::string, std::string>& placeholders) {
  Json replaced = Json::array();
  for (const Json& word : words) {
    const std::string text = word.is_string() ? word.get<std::string>() : codec::ToText(word);
    replaced.push_back(absl::StrReplaceAll(text, placeholders));
  }
  return replaced;
}

void SetResources(const Json& container, SourceStudy& out) {
  const Json& resources = Member(container, "resources");
  const Json& wanted = Member(resources, "limits").is_object() ? Member(resources, "limits")
                                                               : Member(resources, "requests");
  Json chief = {{"count", 1}};
  const Json gpus = NumberIn(Member(wanted, "nvidia.com/gpu"));
  const Json cpus = NumberIn(Member(wanted, "cpu"));
  if (!gpus.is_null()) chief["gpus"] = gpus;
  if (!cpus.is_null()) chief["cpus"] = cpus;
  std::string memory = TextMember(wanted, "memory");
  if (!memory.empty()) chief["memory"] = memory.ends_with('i') ? memory + "B" : memory;
  if (chief.size() > 1) out.definition["job"]["replicas"]["chief"] = chief;
}

void SetKatibJob(const Json& spec, SourceStudy& out) {
  const Json& job = Member(Member(spec, "trialTemplate"), "trialSpec");
  const std::string kind = TextMember(job, "kind");
  const Json& container = ContainerOf(spec);
  if (kind != "Job" || !container.is_object()) {
    out.Note(fmt::format(
        "spec.trialTemplate: {} is left out; the study has no job, and clients run its trials",
        kind.empty() ? "it has no trialSpec, and" : "a " + kind));
    return;
  }
  std::map<std::string, std::string> placeholders;
  for (const Json& parameter : Member(Member(spec, "trialTemplate"), "trialParameters")) {
    placeholders["${trialParameters." + TextMember(parameter, "name") + "}"] =
        "{" + TextMember(parameter, "reference") + "}";
  }
  Json& definition = out.definition["job"];
  definition["image"] = TextMember(container, "image");
  const Json& command = Member(container, "command");
  const Json& args = Member(container, "args");
  if (command.is_array()) definition["command"] = WordsOf(command, placeholders);
  if (args.is_array()) definition["args"] = WordsOf(args, placeholders);
  for (const Json& variable : Member(container, "env")) {
    if (!Member(variable, "value").is_string()) {
      out.Note(fmt::format("spec.trialTemplate: variable {} has no plain value, and is left out",
                           TextMember(variable, "name")));
      continue;
    }
    definition["env"][TextMember(variable, "name")] = TextMember(variable, "value");
  }
  SetResources(container, out);
  NoteLeftOut(container,
              "spec.trialTemplate container",
              {"name", "image", "command", "args", "env", "resources"},
              out);
}

void SetCollector(const Json& spec, SourceStudy& out) {
  const Json& collector = Member(spec, "metricsCollectorSpec");
  const std::string kind = TextMember(Member(collector, "collector"), "kind");
  if (!kind.empty() && kind != "StdOut") {
    out.Note(
        fmt::format("spec.metricsCollectorSpec: {} is left out; `metrics` of a study file says "
                    "where a metric is read from",
                    kind));
  }
}

// --- trials, in `kubectl get experiment,trials -o yaml` or the best one of an experiment ---

void AddPoint(const Json& assignments, SourceTrial& trial) {
  for (const Json& assignment : assignments) {
    const Json& value = Member(assignment, "value");
    trial.point[TextMember(assignment, "name")] =
        value.is_string() ? ValueOfText(value.get<std::string>()) : ValueOf(value);
  }
}

// The value that counts in Katib: the best of the objective, the latest of other metrics.
void AddMetrics(const Json& observation, const Json& objective, SourceTrial& trial) {
  for (const Json& metric : Member(observation, "metrics")) {
    const std::string name = TextMember(metric, "name");
    std::string_view key = "latest";
    for (const Json& strategy : Member(objective, "metricStrategies")) {
      if (TextMember(strategy, "name") != name) continue;
      const std::string value = TextMember(strategy, "value");
      if (value == "max" || value == "min") key = value == "max" ? "max" : "min";
    }
    const Json value = NumberIn(Member(metric, key));
    const Json latest = NumberIn(Member(metric, "latest"));
    const Json& chosen = value.is_null() ? latest : value;
    if (!chosen.is_null()) trial.last.metrics[name] = chosen.get<double>();
  }
}

// The condition that holds: kubeflow has one for each state a trial has been in.
End KatibEnd(const Json& status, std::string& message) {
  End end = End::kWaiting;
  for (const Json& condition : Member(status, "conditions")) {
    if (TextMember(condition, "status") != "True") continue;
    const std::string type = TextMember(condition, "type");
    if (type == "Succeeded") end = End::kCompleted;
    if (type == "Failed" || type == "Killed" || type == "MetricsUnavailable") end = End::kFailed;
    if (type == "EarlyStopped") end = End::kStopped;
    if (end != End::kWaiting) message = TextMember(condition, "message");
  }
  return end;
}

void AddTrial(const Json& resource, const Json& objective, SourceStudy& out) {
  const std::string name = TextMember(Member(resource, "metadata"), "name");
  const Json& status = Member(resource, "status");
  SourceTrial trial{.label = name};
  AddPoint(Member(Member(resource, "spec"), "parameterAssignments"), trial);
  AddMetrics(Member(status, "observation"), objective, trial);
  trial.end = KatibEnd(status, trial.message);
  NoteOrigin(trial, name, TextMember(status, "startTime"), TextMember(status, "completionTime"));
  out.trials.push_back(std::move(trial));
}

void AddBestTrial(const Json& status, const Json& objective, SourceStudy& out) {
  const Json& best = Member(status, "currentOptimalTrial");
  if (!Member(best, "parameterAssignments").is_array()) return;
  SourceTrial trial{.label = TextMember(best, "bestTrialName"), .end = End::kCompleted};
  AddPoint(Member(best, "parameterAssignments"), trial);
  AddMetrics(Member(best, "observation"), objective, trial);
  NoteOrigin(trial, trial.label, "", "");
  out.trials.push_back(std::move(trial));
  out.Note(
      "trials: an Experiment names its best one only; `kubectl get experiment,trials -o yaml` has "
      "all");
}

}  // namespace

absl::StatusOr<SourceStudy> FromKatib(const Json& document) {
  const bool is_list = TextMember(document, "kind") == "List";
  const Json* experiment = is_list ? nullptr : &document;
  for (const Json& item : Member(document, "items")) {
    if (TextMember(item, "kind") != "Experiment") continue;
    if (experiment != nullptr)
      return InvalidArgument("items: must hold one Experiment, got several");
    experiment = &item;
  }
  if (experiment == nullptr) return InvalidArgument("items: must hold an Experiment");
  SourceStudy out;
  out.name = TextMember(Member(*experiment, "metadata"), "name");
  const Json& spec = Member(*experiment, "spec");
  const Json& objective = Member(spec, "objective");
  VERNIER_RETURN_IF_ERROR(SetKatibSpace(spec, out));
  SetObjective(objective, out);
  SetKatibSearch(spec, out);
  SetKatibJob(spec, out);
  SetCollector(spec, out);
  NoteLeftOut(spec,
              "spec",
              {"objective",
               "algorithm",
               "parameters",
               "maxTrialCount",
               "maxFailedTrialCount",
               "parallelTrialCount",
               "earlyStopping",
               "trialTemplate",
               "metricsCollectorSpec",
               "resumePolicy"},
              out);
  for (const Json& item : Member(document, "items")) {
    if (is_list && TextMember(item, "kind") == "Trial") AddTrial(item, objective, out);
  }
  if (out.trials.empty()) AddBestTrial(Member(*experiment, "status"), objective, out);
  return out;
}

}  // namespace vernier::imports
