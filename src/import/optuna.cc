// What Optuna stores of a study: https://optuna.readthedocs.io, «Distributions» and «Trial». Parameters are defined by the
// program while it runs, so that a range may change from trial to trial, and a condition is not stored at all.

#include "src/import/optuna.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/codec/json_text.h"
#include "src/core/nearest.h"
#include "src/core/status.h"
#include "src/import/input.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

// Names of metrics where the study has none.
constexpr std::string_view kValue = "value";

// Bounds and choices of one parameter, in all trials.
struct Distribution {
  std::string kind;  // "float", "int", "categorical"
  Json low;
  Json high;
  Json step;
  bool is_log = false;
  Json choices;
};

// Distributions of Optuna before version 3 have names of their own.
absl::StatusOr<Distribution> ParseDistribution(const std::string& name, const std::string& text) {
  VERNIER_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "distribution of " + name));
  const std::string kind = TextMember(json, "name");
  const Json& given = Member(json, "attributes");
  Distribution distribution{.low = Member(given, "low"),
                            .high = Member(given, "high"),
                            .step = Member(given, "step"),
                            .is_log = Member(given, "log") == Json(true),
                            .choices = Member(given, "choices")};
  if (kind == "CategoricalDistribution" && distribution.choices.is_array()) {
    distribution.kind = "categorical";
    return distribution;
  }
  if (!distribution.low.is_number() || !distribution.high.is_number()) {
    return InvalidArgument(
        "parameters.{}: distribution '{}' has no numbers low and high", name, kind);
  }
  if (kind == "FloatDistribution" || kind == "UniformDistribution") {
    distribution.kind = "float";
  } else if (kind == "LogUniformDistribution") {
    distribution.kind = "float";
    distribution.is_log = true;
  } else if (kind == "DiscreteUniformDistribution") {
    distribution.kind = "float";
    distribution.step = Member(given, "q");
  } else if (kind == "IntDistribution" || kind == "IntUniformDistribution") {
    distribution.kind = "int";
  } else if (kind == "IntLogUniformDistribution") {
    distribution.kind = "int";
    distribution.is_log = true;
  } else {
    return InvalidArgument("parameters.{}: unknown distribution '{}'", name, kind);
  }
  if (distribution.kind == "int" && distribution.step == Json(1)) distribution.step = Json();
  return distribution;
}

ParameterValue ChoiceOf(const Json& choice) { return ValueOf(choice); }

// Widens `known` so that it also holds what `other` does. False: they are of different kinds.
bool Widen(Distribution& known, const Distribution& other) {
  if (known.kind != other.kind) return false;
  if (known.kind == "categorical") {
    for (const Json& choice : other.choices) {
      const bool is_new = std::ranges::find(known.choices, choice) == known.choices.end();
      if (is_new) known.choices.push_back(choice);
    }
    return true;
  }
  if (other.low < known.low) known.low = other.low;
  if (known.high < other.high) known.high = other.high;
  known.is_log = known.is_log && other.is_log;
  if (known.step != other.step) known.step = Json();
  return true;
}

bool IsSame(const Distribution& a, const Distribution& b) {
  return a.kind == b.kind && a.low == b.low && a.high == b.high && a.step == b.step &&
         a.is_log == b.is_log && a.choices == b.choices;
}

Json OptunaDomain(const std::string& name, const Distribution& distribution, SourceStudy& out) {
  if (distribution.kind == "categorical") {
    Json choices = Json::array();
    for (const Json& choice : distribution.choices) choices.push_back(JsonOf(ChoiceOf(choice)));
    const bool has_other = std::ranges::any_of(distribution.choices, [](const Json& choice) {
      return choice.is_null() || choice.is_structured();
    });
    if (has_other) {
      out.Note(fmt::format(
          "{}: choices that are null or lists are text here: {}", name, codec::ToText(choices)));
    }
    return {{"categorical", choices}};
  }
  Json domain = {{distribution.kind, {distribution.low, distribution.high}}};
  if (distribution.is_log) domain["scale"] = "log";
  if (distribution.is_log && !distribution.step.is_null()) {
    out.Note(fmt::format("{}: the step is left out, as a log scale has none here", name));
  } else if (!distribution.step.is_null()) {
    domain["step"] = distribution.step;
  }
  return domain;
}

// The space of all trials together.
absl::StatusOr<std::map<std::string, Distribution>> GatherSpace(const OptunaStudy& study,
                                                                std::vector<std::string>& order,
                                                                SourceStudy& out) {
  std::map<std::string, Distribution> space;
  std::set<std::string> changed;
  // Most trials repeat the text of the one before.
  std::map<std::string, std::string> known;
  for (const OptunaTrial& trial : study.trials) {
    for (const std::string& name : trial.order) {
      const std::string& text = trial.distributions.at(name);
      if (const auto at = known.find(name); at != known.end() && at->second == text) continue;
      known[name] = text;
      VERNIER_ASSIGN_OR_RETURN(const Distribution given, ParseDistribution(name, text));
      const auto [at, is_new] = space.emplace(name, given);
      if (is_new) {
        order.push_back(name);
        continue;
      }
      if (IsSame(at->second, given)) continue;
      changed.insert(name);
      if (!Widen(at->second, given)) {
        return InvalidArgument("parameters.{}: is {} in some trials and {} in others",
                               name,
                               at->second.kind,
                               given.kind);
      }
    }
  }
  for (const std::string& name : changed) {
    out.Note(
        fmt::format("{}: its range changes from trial to trial; here it spans all of them", name));
  }
  return space;
}

// --- objectives ---

std::vector<std::string> MetricNames(const OptunaStudy& study) {
  std::vector<std::string> names;
  const auto at = study.system.find("study:metric_names");
  if (at != study.system.end()) {
    const auto given = ParseJson(at->second, "metric names");
    if (given.ok() && given->is_array()) {
      for (const Json& name : *given)
        names.push_back(name.is_string() ? name.get<std::string>() : "");
    }
  }
  if (names.size() == study.directions.size()) return names;
  names.clear();
  for (std::size_t i = 0; i < study.directions.size(); ++i) {
    names.push_back(study.directions.size() == 1 ? std::string(kValue)
                                                 : fmt::format("{}_{}", kValue, i));
  }
  return names;
}

absl::Status SetOptunaObjectives(const OptunaStudy& study,
                                 const std::vector<std::string>& names,
                                 SourceStudy& out) {
  Json objectives = Json::array();
  for (std::size_t i = 0; i < study.directions.size(); ++i) {
    const std::string& direction = study.directions[i];
    if (direction != "MAXIMIZE" && direction != "MINIMIZE") {
      return InvalidArgument("objective: unknown direction '{}'", direction);
    }
    objectives.push_back({{direction == "MAXIMIZE" ? "maximize" : "minimize", names[i]}});
  }
  if (!objectives.empty()) out.definition["objective"] = std::move(objectives);
  if (!study.system.contains("study:metric_names")) {
    out.Note(fmt::format("objective: Optuna does not name it, here it is '{}'",
                         fmt::join(names, "', '")));
  }
  return absl::OkStatus();
}

// --- constraints, which a sampler stores as numbers that are at most 0 where they hold ---

std::vector<double> ConstraintsOf(const OptunaTrial& trial) {
  std::vector<double> values;
  const auto at = trial.system.find("constraints");
  if (at == trial.system.end()) return values;
  const auto json = ParseJson(at->second, "constraints");
  if (!json.ok() || !json->is_array()) return values;
  for (const Json& value : *json) {
    if (value.is_number()) values.push_back(value.get<double>());
  }
  return values;
}

std::string ConstraintName(std::size_t i) { return fmt::format("constraint_{}", i); }

void AddConstraints(const OptunaStudy& study, SourceStudy& out) {
  std::size_t count = 0;
  for (const OptunaTrial& trial : study.trials) {
    count = std::max(count, ConstraintsOf(trial).size());
  }
  if (count == 0) return;
  Json constraints = Json::array();
  for (std::size_t i = 0; i < count; ++i) constraints.push_back(ConstraintName(i) + " <= 0");
  out.definition["outcome_constraints"] = constraints;
  out.Note(
      fmt::format("constraints: outcome constraints over the metrics constraint_0 to {}, which "
                  "trials to come must report",
                  ConstraintName(count - 1)));
}

// --- trials ---

SourceTrial::End OptunaEnd(OptunaState state) {
  switch (state) {
    case OptunaState::kComplete:
      return SourceTrial::End::kCompleted;
    case OptunaState::kPruned:
      return SourceTrial::End::kStopped;
    case OptunaState::kFail:
      return SourceTrial::End::kFailed;
    case OptunaState::kRunning:
    case OptunaState::kWaiting:
      return SourceTrial::End::kWaiting;
  }
  return SourceTrial::End::kWaiting;
}

absl::StatusOr<ParameterValue> ExternalValue(const std::string& name,
                                             const Distribution& distribution,
                                             const std::string& text,
                                             double internal) {
  if (distribution.kind == "float") return internal;
  if (distribution.kind == "int") {
    if (std::abs(internal) < 0x1p63) return static_cast<std::int64_t>(std::llround(internal));
  } else {
    // The index is into the choices of this trial.
    VERNIER_ASSIGN_OR_RETURN(const Distribution own, ParseDistribution(name, text));
    if (internal >= 0 && internal < static_cast<double>(own.choices.size())) {
      return ChoiceOf(own.choices[static_cast<std::size_t>(internal)]);
    }
  }
  return InvalidArgument("parameters.{}: value {} is not in its distribution", name, internal);
}

// The point of a trial that waits is in an attribute.
void AddFixedPoint(const OptunaTrial& trial, Point& point) {
  const auto at = trial.system.find("fixed_params");
  if (at == trial.system.end()) return;
  const auto fixed = ParseJson(at->second, "fixed parameters");
  if (!fixed.ok() || !fixed->is_object()) return;
  for (const auto& [name, value] : fixed->items()) point.emplace(name, ValueOf(value));
}

absl::StatusOr<SourceTrial> FromOptunaTrial(const OptunaTrial& trial,
                                            const std::map<std::string, Distribution>& space,
                                            const std::vector<std::string>& metrics) {
  SourceTrial out{.label = fmt::format("trial {}", trial.number), .end = OptunaEnd(trial.state)};
  for (const std::string& name : trial.order) {
    VERNIER_ASSIGN_OR_RETURN(
        out.point[name],
        ExternalValue(name, space.at(name), trial.distributions.at(name), trial.internal.at(name)));
  }
  if (out.end == SourceTrial::End::kWaiting) AddFixedPoint(trial, out.point);
  for (std::size_t i = 0; i < std::min(trial.values.size(), metrics.size()); ++i) {
    out.last.metrics[metrics[i]] = trial.values[i];
  }
  for (const auto& [step, value] : trial.curve) {
    out.curve.push_back({.step = step, .metrics = {{metrics.front(), value}}});
  }
  if (!trial.curve.empty()) out.last.step = trial.curve.rbegin()->first;
  const std::vector<double> constraints = ConstraintsOf(trial);
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    out.last.metrics[ConstraintName(i)] = constraints[i];
  }
  if (trial.state == OptunaState::kPruned) out.message = "pruned in Optuna";
  if (trial.state == OptunaState::kFail) out.message = "failed in Optuna";
  NoteOrigin(out, std::to_string(trial.number), trial.start, trial.complete);
  for (const auto& [name, value] : trial.user) NoteAttribute(out, name, value);
  return out;
}

void NoteAttributes(const OptunaStudy& study, SourceStudy& out) {
  if (study.user.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, value] : study.user) names.push_back(name);
  out.Note(
      fmt::format("user attributes of the study are left out: {}; those of trials are stored as "
                  "metadata",
                  fmt::join(names, ", ")));
}

}  // namespace

absl::StatusOr<SourceStudy> FromOptuna(const OptunaStudy& study) {
  SourceStudy out;
  out.name = study.name;
  out.infers_conditions = true;
  const std::vector<std::string> metrics = MetricNames(study);
  if (metrics.empty()) return InvalidArgument("objective: study '{}' has no direction", study.name);
  VERNIER_RETURN_IF_ERROR(SetOptunaObjectives(study, metrics, out));
  std::vector<std::string> order;
  VERNIER_ASSIGN_OR_RETURN(const auto space, GatherSpace(study, order, out));
  Json& parameters = out.parameters();
  parameters = Json::object();
  for (const std::string& name : order) parameters[name] = OptunaDomain(name, space.at(name), out);
  AddConstraints(study, out);
  for (const OptunaTrial& trial : study.trials) {
    VERNIER_ASSIGN_OR_RETURN(SourceTrial next, FromOptunaTrial(trial, space, metrics));
    out.trials.push_back(std::move(next));
  }
  NoteAttributes(study, out);
  out.Note(
      "sampler and pruner: Optuna does not store them; the study suggests by gp and stops no "
      "trial");
  return out;
}

absl::StatusOr<std::size_t> PickStudy(const std::vector<std::string>& names,
                                      const std::string& wanted) {
  if (names.empty()) return NotFound("the file holds no study");
  if (wanted.empty()) {
    if (names.size() == 1) return 0;
    const std::span<const std::string> named(names.data(), std::min(names.size(), kListedNames));
    return FieldError("study",
                      fmt::format("the file holds {} studies, of which --study NAME picks one: {}",
                                  names.size(),
                                  fmt::join(named, ", ")));
  }
  const auto at = std::ranges::find(names, wanted);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  return NotFound("the file holds no study '{}'{}", wanted, NearestHint(wanted, names));
}

}  // namespace vernier::imports
