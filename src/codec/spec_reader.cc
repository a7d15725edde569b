#include "src/codec/spec_reader.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "src/codec/argument_form.h"
#include "src/codec/job_file.h"
#include "src/codec/job_reader.h"
#include "src/codec/mapping.h"
#include "src/codec/metric_keys.h"
#include "src/codec/space_reader.h"
#include "src/codec/study_file.h"

namespace vernier::codec {
namespace {

// "last", "best" or "mean_of_last(5)".
absl::Status ReadFinal(const Json& json, const std::string& path, Objective& objective) {
  if (json == "last" || json == "best") {
    objective.final = json == "best" ? FinalValue::kBest : FinalValue::kLast;
    return absl::OkStatus();
  }
  absl::string_view count;
  if (json.is_string()) count = json.get_ref<const std::string&>();
  objective.final = FinalValue::kMeanOfLast;
  if (absl::ConsumePrefix(&count, "mean_of_last(") && absl::ConsumeSuffix(&count, ")") &&
      absl::SimpleAtoi(count, &objective.final_count)) {
    return absl::OkStatus();
  }
  return MustBe(path, "last, best or mean_of_last(COUNT)", json);
}

absl::StatusOr<Objective> ReadObjective(const Json& json,
                                        const std::string& path,
                                        UnknownKeys unknown_keys) {
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json, path, {"maximize", "minimize", "final"}, unknown_keys));
  const bool maximize = mapping.Find("maximize") != nullptr;
  if (maximize == (mapping.Find("minimize") != nullptr)) {
    return FieldError(path, "needs one of maximize: METRIC and minimize: METRIC");
  }
  Objective objective{.metric = "", .goal = maximize ? Goal::kMaximize : Goal::kMinimize};
  VERNIER_RETURN_IF_ERROR(
      mapping.Read(maximize ? "maximize" : "minimize", objective.metric, &ReadText));
  if (const Json* const final = mapping.Find("final")) {
    VERNIER_RETURN_IF_ERROR(ReadFinal(*final, mapping.PathOf("final"), objective));
  }
  return objective;
}

// One objective, or a list of them.
absl::Status ReadObjectives(const Mapping& file, std::vector<Objective>& objectives) {
  VERNIER_ASSIGN_OR_RETURN(const Json* json, file.Require("objective"));
  const std::string path = file.PathOf("objective");
  if (!json->is_array()) {
    VERNIER_ASSIGN_OR_RETURN(objectives.emplace_back(),
                             ReadObjective(*json, path, file.unknown_keys()));
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(
        objectives.emplace_back(),
        ReadObjective((*json)[i], fmt::format("{}[{}]", path, i), file.unknown_keys()));
  }
  return absl::OkStatus();
}

// A name, or a mapping with the name under `name_key` and options beside it.
absl::Status ReadChoice(const Mapping& file,
                        std::string_view key,
                        const std::string& name_key,
                        Choice& choice) {
  const Json* const json = file.Find(key);
  if (json == nullptr) return absl::OkStatus();
  const std::string path = file.PathOf(key);
  if (json->is_string()) {
    choice = {.name = json->get<std::string>(), .options = {}};
    return absl::OkStatus();
  }
  if (!json->is_object()) {
    return MustBe(path, fmt::format("a name or a mapping with {}", name_key), *json);
  }
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(*json, path, {}, UnknownKeys::kIgnore));
  VERNIER_ASSIGN_OR_RETURN(const Json* name, mapping.Require(name_key));
  choice.options.clear();
  VERNIER_ASSIGN_OR_RETURN(choice.name, ReadText(*name, mapping.PathOf(name_key)));
  for (const auto& [option, value] : json->items()) {
    if (option == name_key) continue;
    VERNIER_ASSIGN_OR_RETURN(choice.options[option], ReadScalar(value, mapping.PathOf(option)));
  }
  return absl::OkStatus();
}

// A rule; the one option that is not its own is when it judges.
absl::Status ReadStopping(const Mapping& file, StudySpec& spec) {
  VERNIER_RETURN_IF_ERROR(ReadChoice(file, "stopping", "rule", spec.stopping));
  const auto when = spec.stopping.options.find("when");
  if (when == spec.stopping.options.end()) return absl::OkStatus();
  if (when->second != ParameterValue(std::string(kAsked))) {
    return FieldError(
        file.PathOf("stopping") + ".when",
        fmt::format("must be {}, or left out, got {}", kAsked, FormatValue(when->second)));
  }
  spec.judged_when_asked = true;
  spec.stopping.options.erase(when);
  return absl::OkStatus();
}

// Not for users: a service writes it that made the study for a client of its own.
absl::Status ReadForeign(const Mapping& file, std::optional<ForeignDefinition>& foreign) {
  const Json* const json = file.Find("foreign");
  if (json == nullptr) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(
          *json, file.PathOf("foreign"), {"service", "name", "definition"}, file.unknown_keys()));
  foreign.emplace();
  std::string definition;
  VERNIER_RETURN_IF_ERROR(mapping.Read("service", foreign->service, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("name", foreign->name, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("definition", definition, &ReadText));
  if (absl::Base64Unescape(definition, &foreign->definition)) return absl::OkStatus();
  return FieldError(mapping.PathOf("definition"), "must be base64");
}

absl::Status ReadBudget(const Mapping& file, Budget& budget) {
  const Json* const json = file.Find("budget");
  if (json == nullptr) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(*json,
                                         file.PathOf("budget"),
                                         {"trials", "failed", "time", "gpu_hours"},
                                         file.unknown_keys()));
  VERNIER_RETURN_IF_ERROR(mapping.Read("trials", budget.trials, &ReadInt64));
  VERNIER_RETURN_IF_ERROR(mapping.Read("failed", budget.failed_trials, &ReadInt64));
  VERNIER_RETURN_IF_ERROR(mapping.Read("time", budget.time, &ReadDuration));
  return mapping.Read("gpu_hours", budget.gpu_hours, &ReadNumber);
}

absl::Status ReadConvergence(const Mapping& file, std::optional<Convergence>& convergence) {
  const Json* const json = file.Find("convergence");
  if (json == nullptr) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(*json, file.PathOf("convergence"), {"tolerance", "stop"}, file.unknown_keys()));
  convergence.emplace();
  VERNIER_RETURN_IF_ERROR(mapping.Require("tolerance").status());
  VERNIER_RETURN_IF_ERROR(mapping.Read("tolerance", convergence->tolerance, &ReadNumber));
  return mapping.Read("stop", convergence->stop, &ReadBool);
}

absl::StatusOr<Role> ReadRole(const Json& json, const std::string& path) {
  const std::optional<Role> role =
      json.is_string() ? FindRole(json.get_ref<const std::string&>()) : std::nullopt;
  if (role.has_value()) return *role;
  return MustBe(path, "chief, master, worker, ps or evaluator", json);
}

absl::StatusOr<MetricSource> ReadMetricSource(const Json& json,
                                              const std::string& path,
                                              UnknownKeys unknown_keys) {
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json,
                    path,
                    {"after", "json", "regex", "tfevents", "hypertune", "folder", "from"},
                    unknown_keys));
  MetricSource source;
  const char* chosen = nullptr;
  for (const auto& [key, kind] : kMetricSources) {
    if (mapping.Find(key) == nullptr) continue;
    if (chosen != nullptr) {
      return FieldError(mapping.PathOf(key),
                        fmt::format("cannot go with {}; give one of them", chosen));
    }
    chosen = key;
    source.kind = kind;
    VERNIER_RETURN_IF_ERROR(mapping.Read(key, source.text, &ReadText));
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("folder", source.folder, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("from", source.from, &ReadRole));
  return source;
}

absl::Status ReadMetrics(const Mapping& file, std::map<std::string, MetricSource>& metrics) {
  const Json* const json = file.Find("metrics");
  if (json == nullptr) return absl::OkStatus();
  const std::string path = file.PathOf("metrics");
  if (!json->is_object()) {
    return MustBe(path, "a mapping of names to sources such as {after: 'val_acc='}", *json);
  }
  for (const auto& [name, source] : json->items()) {
    VERNIER_ASSIGN_OR_RETURN(
        metrics[name],
        ReadMetricSource(source, fmt::format("{}.{}", path, name), file.unknown_keys()));
  }
  return absl::OkStatus();
}

absl::StatusOr<LeaseExpiry> ReadExpiry(const Json& json, const std::string& path) {
  if (json == "offer") return LeaseExpiry::kOfferAgain;
  if (json == "fail") return LeaseExpiry::kFail;
  return MustBe(path, "offer or fail", json);
}

absl::Status ReadLease(const Mapping& file, LeasePolicy& lease) {
  const Json* const json = file.Find("lease");
  if (json == nullptr) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(*json, file.PathOf("lease"), {"ttl", "on_expiry"}, file.unknown_keys()));
  if (const Json* const ttl = mapping.Find("ttl"); ttl != nullptr && *ttl == kNever) {
    lease.ttl = absl::InfiniteDuration();
  } else {
    VERNIER_RETURN_IF_ERROR(mapping.Read("ttl", lease.ttl, &ReadDuration));
  }
  return mapping.Read("on_expiry", lease.on_expiry, &ReadExpiry);
}

absl::Status ReadSpace(const Mapping& file, Space& space) {
  VERNIER_ASSIGN_OR_RETURN(const Json* json, file.Require("parameters"));
  VERNIER_ASSIGN_OR_RETURN(std::vector<Parameter> parameters,
                           ReadParameters(*json, file.PathOf("parameters"), file.unknown_keys()));
  std::vector<std::string> constraints;
  VERNIER_RETURN_IF_ERROR(file.Read("constraints", constraints, &ReadTexts));
  VERNIER_ASSIGN_OR_RETURN(space, Space::Create(std::move(parameters), std::move(constraints)));
  return absl::OkStatus();
}

// A job alone, with nothing to tune: no objective, no parameters, one trial.
bool IsJobAlone(const Mapping& file) {
  return file.Find("job") != nullptr && file.Find("objective") == nullptr &&
         file.Find("parameters") == nullptr;
}

// Foreign studies may have no objective.
bool NeedsNoObjective(const Mapping& file) {
  return file.Find("foreign") != nullptr && file.Find("objective") == nullptr;
}

// What is tuned and how, as far as the file speaks of it.
absl::Status ReadTuning(const Mapping& file, StudySpec& spec) {
  if (IsJobAlone(file)) {
    MakeJobAlone(spec);
    return absl::OkStatus();
  }
  if (!NeedsNoObjective(file)) VERNIER_RETURN_IF_ERROR(ReadObjectives(file, spec.objectives));
  return ReadSpace(file, spec.space);
}

// What the parameters say of how the job's program is given them.
absl::Status ReadArgumentsOf(const Mapping& file, StudySpec& spec) {
  const Json* const parameters = file.Find("parameters");
  if (parameters == nullptr) return absl::OkStatus();
  const std::string path = file.PathOf("parameters");
  if (!spec.job.has_value()) return RefuseArguments(*parameters, path);
  return ReadArguments(*parameters, path, file.unknown_keys(), *spec.job);
}

absl::StatusOr<Mapping> OpenFile(const Json& document, UnknownKeys unknown_keys) {
  return Mapping::Open(document,
                       "",
                       {"study",
                        "labels",
                        "objective",
                        "parameters",
                        "constraints",
                        "outcome_constraints",
                        "algorithm",
                        "warm_start",
                        "stopping",
                        "parallel",
                        "budget",
                        "convergence",
                        "seed",
                        "metrics",
                        "lease",
                        "job"},
                       unknown_keys);
}

}  // namespace

absl::StatusOr<StudySpec> ReadSpec(const Json& document, UnknownKeys unknown_keys) {
  if (IsJobFile(document)) return ReadJobFile(document, unknown_keys);
  StudySpec spec;
  if (unknown_keys == UnknownKeys::kRefuse) VERNIER_RETURN_IF_ERROR(RefuseJobKeys(document));
  VERNIER_ASSIGN_OR_RETURN(const Mapping file, OpenFile(document, unknown_keys));
  VERNIER_RETURN_IF_ERROR(file.Require("study").status());
  VERNIER_RETURN_IF_ERROR(file.Read("study", spec.name, &ReadText));
  VERNIER_RETURN_IF_ERROR(file.Read("labels", spec.labels, &ReadTextMap));
  VERNIER_RETURN_IF_ERROR(ReadTuning(file, spec));
  VERNIER_RETURN_IF_ERROR(file.Read("outcome_constraints", spec.outcome_constraints, &ReadTexts));
  VERNIER_RETURN_IF_ERROR(ReadChoice(file, "algorithm", "name", spec.algorithm));
  VERNIER_RETURN_IF_ERROR(file.Read("warm_start", spec.warm_start, &ReadTexts));
  VERNIER_RETURN_IF_ERROR(ReadStopping(file, spec));
  VERNIER_RETURN_IF_ERROR(file.Read("parallel", spec.parallel, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(ReadBudget(file, spec.budget));
  VERNIER_RETURN_IF_ERROR(ReadConvergence(file, spec.convergence));
  VERNIER_RETURN_IF_ERROR(file.Read("seed", spec.seed, &ReadUint64));
  VERNIER_RETURN_IF_ERROR(ReadMetrics(file, spec.metrics));
  VERNIER_RETURN_IF_ERROR(ReadLease(file, spec.lease));
  if (const Json* const job = file.Find("job")) {
    VERNIER_ASSIGN_OR_RETURN(spec.job, ReadJob(*job, file.PathOf("job"), unknown_keys));
  }
  VERNIER_RETURN_IF_ERROR(ReadArgumentsOf(file, spec));
  VERNIER_RETURN_IF_ERROR(ReadForeign(file, spec.foreign));
  VERNIER_RETURN_IF_ERROR(ApplyHyperparameters(spec));
  VERNIER_RETURN_IF_ERROR(Validate(spec));
  return spec;
}

}  // namespace vernier::codec
