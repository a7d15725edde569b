#include "src/codec/spec_form.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "src/codec/argument_form.h"
#include "src/codec/event_json.h"
#include "src/codec/file_form.h"
#include "src/codec/job_file.h"
#include "src/codec/job_form.h"
#include "src/codec/metric_keys.h"
#include "src/codec/space_reader.h"
#include "src/codec/study_file.h"

namespace vernier::codec {

// --- objectives ---
namespace {

// "last", "best" or "mean_of_last(5)".
absl::Status ReadFinal(const Json& json, const std::string& path, Objective& objective) {
  if (json == "last" || json == "best") {
    objective.final = json == "best" ? FinalValue::kBest : FinalValue::kLast;
    return absl::OkStatus();
  }
  // Debian's abseil has a string_view of its own.
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
  const bool minimize = mapping.Find("minimize") != nullptr;
  if (maximize && minimize) {
    return FieldError(path,
                      "has both maximize and minimize; for two objectives write a list, "
                      "[{maximize: METRIC}, {minimize: METRIC}]");
  }
  if (!maximize && !minimize) {
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

Json ObjectiveToJson(const Objective& objective) {
  const char* const key = objective.goal == Goal::kMaximize ? "maximize" : "minimize";
  Json json = Json::object({{key, objective.metric}});
  if (objective.final == FinalValue::kBest) json["final"] = "best";
  if (objective.final == FinalValue::kMeanOfLast) {
    json["final"] = fmt::format("mean_of_last({})", objective.final_count);
  }
  return json;
}

}  // namespace

// One objective, or a list of them.
template <>
struct FileForm<std::vector<Objective>> {
  static Json Write(const std::vector<Objective>& objectives) {
    if (objectives.size() == 1) return ObjectiveToJson(objectives.front());
    Json list = Json::array();
    for (const Objective& objective : objectives) list.push_back(ObjectiveToJson(objective));
    return list;
  }
  static absl::Status Read(const Json& json,
                           const FilePlace& place,
                           std::vector<Objective>& objectives) {
    if (!json.is_array()) {
      VERNIER_ASSIGN_OR_RETURN(objectives.emplace_back(),
                               ReadObjective(json, place.path, place.unknown_keys));
      return absl::OkStatus();
    }
    for (std::size_t i = 0; i < json.size(); ++i) {
      VERNIER_ASSIGN_OR_RETURN(
          objectives.emplace_back(),
          ReadObjective(json[i], fmt::format("{}[{}]", place.path, i), place.unknown_keys));
    }
    return absl::OkStatus();
  }
};

// --- algorithms and rules ---
namespace {

// A name, or a mapping with the name under `name_key` and options beside it.
absl::Status ReadChoice(const Json& json,
                        const std::string& path,
                        const std::string& name_key,
                        Choice& choice) {
  if (json.is_string()) {
    choice = {.name = json.get<std::string>(), .options = {}};
    return absl::OkStatus();
  }
  if (!json.is_object()) {
    return MustBe(path, fmt::format("a name or a mapping with {}", name_key), json);
  }
  // Which options there are is for the algorithm to say: see Validate.
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json, path, {}, UnknownKeys::kIgnore));
  VERNIER_ASSIGN_OR_RETURN(const Json* name, mapping.Require(name_key));
  choice.options.clear();
  VERNIER_ASSIGN_OR_RETURN(choice.name, ReadText(*name, mapping.PathOf(name_key)));
  // Beside the name, every key is an option.
  for (const auto& [option, value] : json.items()) {
    if (option == name_key) continue;
    VERNIER_ASSIGN_OR_RETURN(choice.options[option], ReadScalar(value, mapping.PathOf(option)));
  }
  return absl::OkStatus();
}

Json ChoiceToJson(const Choice& choice, const char* name_key) {
  if (choice.options.empty()) return choice.name;
  Json json = Json::object({{name_key, choice.name}});
  for (const auto& [option, value] : choice.options) json[option] = ValueToJson(value);
  return json;
}

}  // namespace

template <>
struct FileForm<Choice> {
  static Json Write(const Choice& choice) { return ChoiceToJson(choice, "name"); }
  static absl::Status Read(const Json& json, const FilePlace& place, Choice& choice) {
    return ReadChoice(json, place.path, "name", choice);
  }
};

// A rule, and when it judges, which stands among the rule's own options: "rule", or {"rule": …, options …, "when": "asked"}.
struct StoppingForm {
  static Json Write(const StudySpec& spec) {
    Json json = ChoiceToJson(spec.stopping, "rule");
    if (!spec.judged_when_asked) return json;
    if (!json.is_object()) json = Json::object({{"rule", spec.stopping.name}});
    json["when"] = kAsked;
    return json;
  }
  static absl::Status Read(const Json& json, const FilePlace& place, StudySpec& spec) {
    VERNIER_RETURN_IF_ERROR(ReadChoice(json, place.path, "rule", spec.stopping));
    // ReadChoice has taken it for an option of the rule.
    const auto when = spec.stopping.options.find("when");
    if (when == spec.stopping.options.end()) return absl::OkStatus();
    if (when->second != ParameterValue(std::string(kAsked))) {
      return FieldError(
          place.path + ".when",
          fmt::format("must be {}, or left out, got {}", kAsked, FormatValue(when->second)));
    }
    spec.judged_when_asked = true;
    // So that the rule never sees it.
    spec.stopping.options.erase(when);
    return absl::OkStatus();
  }
};

// --- mappings ---
void DescribeFile(auto& visit, Is<Budget> auto& budget) {
  visit("trials", budget.trials);
  visit("failed", budget.failed_trials);
  visit("time", budget.time);
  visit("gpu_hours", budget.gpu_hours);
}
template <>
struct FileForm<Budget> : DescribedFileForm<Budget> {
  static bool IsEmpty(const Budget& budget) { return budget == Budget(); }
};

void DescribeFile(auto& visit, Is<Convergence> auto& convergence) {
  visit.Required("tolerance", convergence.tolerance);
  visit.Always("stop", convergence.stop);
}
template <>
struct FileForm<Convergence> : DescribedFileForm<Convergence> {};

struct LeaseTimeForm {
  static Json Write(absl::Duration ttl) {
    // A duration in text cannot be infinite.
    if (ttl == absl::InfiniteDuration()) return kNever;
    return FileForm<absl::Duration>::Write(ttl);
  }
  static absl::Status Read(const Json& json, const FilePlace& place, absl::Duration& ttl) {
    if (!(json == kNever)) return FileForm<absl::Duration>::Read(json, place, ttl);
    ttl = absl::InfiniteDuration();
    return absl::OkStatus();
  }
};
template <>
struct FileForm<LeaseExpiry> {
  static Json Write(LeaseExpiry expiry) { return expiry == LeaseExpiry::kFail ? "fail" : "offer"; }
  static absl::Status Read(const Json& json, const FilePlace& place, LeaseExpiry& expiry) {
    const bool fails = json == "fail";
    if (!fails && !(json == "offer")) return MustBe(place.path, "offer or fail", json);
    expiry = fails ? LeaseExpiry::kFail : LeaseExpiry::kOfferAgain;
    return absl::OkStatus();
  }
};
void DescribeFile(auto& visit, Is<LeasePolicy> auto& lease) {
  visit.Always("ttl", lease.ttl, LeaseTimeForm());
  visit.Always("on_expiry", lease.on_expiry);
}
template <>
struct FileForm<LeasePolicy> : DescribedFileForm<LeasePolicy> {};

// In base64, since the bytes need not be text.
struct BytesForm {
  static Json Write(const std::string& bytes) { return absl::Base64Escape(bytes); }
  static absl::Status Read(const Json& json, const FilePlace& place, std::string& bytes) {
    VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadText(json, place.path));
    if (absl::Base64Unescape(text, &bytes)) return absl::OkStatus();
    return FieldError(place.path, "must be base64");
  }
};
void DescribeFile(auto& visit, Is<ForeignDefinition> auto& foreign) {
  visit.Always("service", foreign.service);
  visit.Always("name", foreign.name);
  visit.Always("definition", foreign.definition, BytesForm());
}
template <>
struct FileForm<ForeignDefinition> : DescribedFileForm<ForeignDefinition> {};

// --- metrics ---
namespace {

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
  // The kinds exclude each other. Without any, the metric is found under its own name.
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

}  // namespace

template <>
struct FileForm<std::map<std::string, MetricSource>> {
  static Json Write(const std::map<std::string, MetricSource>& metrics) {
    Json json = Json::object();
    for (const auto& [name, source] : metrics) {
      Json& entry = json[name] = Json::object();
      // Nothing is written for kName.
      for (const auto& [key, kind] : kMetricSources) {
        if (kind == source.kind) entry[key] = source.text;
      }
      if (!source.folder.empty()) entry["folder"] = source.folder;
      if (source.from.has_value()) entry["from"] = RoleName(*source.from, TrainingJob());
    }
    return json;
  }
  static absl::Status Read(const Json& json,
                           const FilePlace& place,
                           std::map<std::string, MetricSource>& metrics) {
    if (!json.is_object()) {
      return MustBe(place.path, "a mapping of names to sources such as {after: 'val_acc='}", json);
    }
    for (const auto& [name, source] : json.items()) {
      VERNIER_ASSIGN_OR_RETURN(
          metrics[name],
          ReadMetricSource(source, fmt::format("{}.{}", place.path, name), place.unknown_keys));
    }
    return absl::OkStatus();
  }
};

// The cluster that runs the job, beside the job: `cluster: hpc` is one line more of a file that runs anywhere.
struct ClusterForm {
  static bool IsEmpty(const StudySpec& spec) {
    return !spec.job.has_value() || spec.job->cluster.empty();
  }
  static Json Write(const StudySpec& spec) { return spec.job->cluster; }
  static absl::Status Read(const Json& json, const FilePlace& place, StudySpec& spec) {
    // `job` is described, and so read, before `cluster`.
    if (!spec.job.has_value()) return FieldError(place.path, "needs a job, which is what it runs");
    VERNIER_RETURN_IF_ERROR(FileForm<std::string>::Read(json, place, spec.job->cluster));
    if (!spec.job->cluster.empty()) return absl::OkStatus();
    return FieldError(place.path, "must not be empty; leave it out for the server's default");
  }
};

// --- the study file ---
// The keys of a study, in the order in which they are written and read. What is read may depend on what stands above.
void DescribeFile(auto& visit, Is<StudySpec> auto& spec) {
  visit.Required("study", spec.name);
  visit("labels", spec.labels);
  visit.Tuning("objective", "parameters", "constraints", spec);
  visit("outcome_constraints", spec.outcome_constraints);
  visit.Always("algorithm", spec.algorithm);
  visit("warm_start", spec.warm_start);
  visit.Always("stopping", spec, StoppingForm());
  visit.Always("parallel", spec.parallel);
  visit("budget", spec.budget);
  visit("convergence", spec.convergence);
  visit.Always("seed", spec.seed);
  visit("metrics", spec.metrics);
  visit.Always("lease", spec.lease);
  visit("job", spec.job);
  visit("cluster", spec, ClusterForm());
  visit.Internal("foreign", spec.foreign);
}

namespace {

// What is tuned: these three keys say it together, and parameters also how the job's program is given them.
class SpecKeys : public FileKeys {
 public:
  void Tuning(const char* objective,
              const char* parameters,
              const char* constraints,
              const StudySpec& /*spec*/) {
    // Only the names count here.
    for (const char* key : {objective, parameters, constraints}) (*this)(key, 0);
  }
};

class SpecReader : public FileReader {
 public:
  using FileReader::FileReader;
  void Tuning(const char* objective,
              const char* parameters,
              const char* constraints,
              StudySpec& spec) {
    // A job alone, with nothing to tune: no objective, no parameters, one trial.
    const bool has_objective = mapping_.Find(objective) != nullptr;
    const bool has_parameters = mapping_.Find(parameters) != nullptr;
    // Looks at the file and not at the study: the job is read later.
    if (mapping_.Find("job") != nullptr && !has_objective && !has_parameters) {
      if (status_.ok()) MakeJobAlone(spec);
      return;
    }
    // Foreign studies may have no objective.
    if (has_objective || mapping_.Find("foreign") == nullptr) Required(objective, spec.objectives);
    if (status_.ok()) status_ = mapping_.Require(parameters).status();
    if (status_.ok()) status_ = ReadSpace(parameters, constraints, spec.space);
  }

 private:
  absl::Status ReadSpace(const char* parameters, const char* constraints, Space& space) {
    VERNIER_ASSIGN_OR_RETURN(
        std::vector<Parameter> all,
        ReadParameters(
            *mapping_.Find(parameters), mapping_.PathOf(parameters), mapping_.unknown_keys()));
    std::vector<std::string> conditions;
    VERNIER_RETURN_IF_ERROR(mapping_.Read(constraints, conditions, &ReadTexts));
    VERNIER_ASSIGN_OR_RETURN(space, Space::Create(std::move(all), std::move(conditions)));
    return absl::OkStatus();
  }
};

class SpecWriter : public FileWriter {
 public:
  using FileWriter::FileWriter;
  void Tuning(const char* objective,
              const char* parameters,
              const char* constraints,
              const StudySpec& spec) {
    (*this)(objective, spec.objectives);
    // A foreign study has parameters even without an objective; a job alone has neither.
    if (!spec.objectives.empty() || spec.foreign) {
      object_[parameters] = ParametersToJson(spec.space.parameters());
      if (spec.job) WriteArguments(*spec.job, object_[parameters]);
    }
    (*this)(constraints, spec.space.constraints());
  }
};

// What the parameters say of how the job's program is given them.
absl::Status ReadArgumentsOf(const Mapping& file, StudySpec& spec) {
  const Json* const parameters = file.Find("parameters");
  if (parameters == nullptr) return absl::OkStatus();
  const std::string path = file.PathOf("parameters");
  // Without a job they would have no effect, which the user should know.
  if (!spec.job.has_value()) return RefuseArguments(*parameters, path);
  return ReadArguments(*parameters, path, file.unknown_keys(), *spec.job);
}

// A trial that runs a job costs more than a verdict, and without a curve it is never judged. With several objectives a rule
// would judge by the first alone, which the user should have asked for.
void SetDefaultStopping(const Mapping& file, StudySpec& spec) {
  if (file.Find("stopping") != nullptr) return;
  if (spec.job.has_value() && spec.objectives.size() == 1)
    spec.stopping.name = std::string(kAutomaticRule);
}

}  // namespace

absl::StatusOr<StudySpec> ReadSpec(const Json& document, UnknownKeys unknown_keys) {
  if (IsJobFile(document)) return ReadJobFile(document, unknown_keys);
  StudySpec spec;
  if (unknown_keys == UnknownKeys::kRefuse) VERNIER_RETURN_IF_ERROR(RefuseJobKeys(document));
  SpecKeys keys;
  DescribeFile(keys, spec);
  VERNIER_ASSIGN_OR_RETURN(const Mapping file,
                           Mapping::Open(document, "", keys.keys(), unknown_keys));
  SpecReader reader(file);
  DescribeFile(reader, spec);
  VERNIER_RETURN_IF_ERROR(reader.status());
  SetDefaultStopping(file, spec);
  // In this order: arguments need the style of the job; the input fills in what to tune, or must agree with it;
  // Validate looks at everything.
  VERNIER_RETURN_IF_ERROR(ReadArgumentsOf(file, spec));
  VERNIER_RETURN_IF_ERROR(ApplyHyperparameters(spec));
  VERNIER_RETURN_IF_ERROR(Validate(spec));
  return spec;
}

Json StudySpecToJson(const StudySpec& spec) {
  Json json = Json::object();
  SpecWriter writer(json);
  DescribeFile(writer, spec);
  return json;
}

// A file defines a study of its own, whatever this one was made from.
std::string StudySpecToYaml(const StudySpec& spec) {
  Json json = StudySpecToJson(spec);
  json.erase("foreign");
  return JsonToYaml(json);
}

}  // namespace vernier::codec
