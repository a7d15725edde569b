#include "src/import/source_study.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/codec/json_text.h"
#include "src/codec/study_file.h"
#include "src/core/domain.h"
#include "src/core/limit_checks.h"
#include "src/core/nearest.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/core/utf8.h"
#include "src/import/inference.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::imports {
namespace {

// Points of a trial's curve that are imported; of a longer one, every n-th and the last. A choice.
constexpr std::size_t kMostCurve = 10'000;
// Trials that a note names.
constexpr std::size_t kNamed = 5;

// --- the definition ---

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }

// The nearest name that a study may have.
std::string LegalName(const std::string& name) {
  std::string legal;
  for (const char c : name) {
    const bool is_legal =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
    legal += is_legal ? c : '-';
  }
  if (legal.empty() || !IsNameStart(legal.front())) legal = "study-" + legal;
  return legal.substr(0, limits::kStudyName);
}

void SetName(SourceStudy& source, const ImportOptions& options) {
  if (!options.name.empty()) {
    source.definition["study"] = options.name;
    return;
  }
  const std::string name = LegalName(source.name);
  if (name != source.name) {
    source.Note(fmt::format("name: '{}' is no name of a study here, so it is called '{}'",
                            ToValidUtf8(source.name),
                            name));
  }
  source.definition["study"] = name;
}

absl::Status SetObjectives(SourceStudy& source, const ImportOptions& options) {
  if (options.objectives.empty()) {
    if (source.definition.contains("objective")) return absl::OkStatus();
    return FieldError("objective",
                      "is not in the file; give --objective maximize:METRIC or minimize:METRIC");
  }
  Json objectives = Json::array();
  for (const std::string& text : options.objectives) {
    VERNIER_ASSIGN_OR_RETURN(Json objective, ParseObjective(text));
    objectives.push_back(std::move(objective));
  }
  source.definition["objective"] = std::move(objectives);
  return absl::OkStatus();
}

// Takes the space from another file, and of its objective and name what this one lacks.
absl::Status SetSpace(SourceStudy& source, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const ImportedStudy other, ReadStudy(path, {}));
  const Json definition = codec::StudySpecToJson(other.spec);
  source.definition["parameters"] = definition["parameters"];
  for (const char* const key : {"objective", "constraints", "outcome_constraints"}) {
    if (definition.contains(key) && !definition[key].empty() && !source.definition.contains(key)) {
      source.definition[key] = definition[key];
    }
  }
  for (const std::string& note : other.notes) source.Note(fmt::format("{}: {}", path, note));
  if (other.spec.job.has_value()) {
    source.Note(
        fmt::format("{}: its job is left out, as that of a space; to run it, give the file "
                    "`warm_start: [{}]`, which takes over the trials",
                    path,
                    source.definition["study"].get<std::string>()));
  }
  return absl::OkStatus();
}

absl::StatusOr<StudySpec> Define(SourceStudy& source, const ImportOptions& options) {
  SetName(source, options);
  std::vector<std::string> constants;
  if (!options.space.empty()) {
    VERNIER_RETURN_IF_ERROR(SetSpace(source, options.space));
  } else {
    if (source.infers_space) constants = InferParameters(source);
    if (source.infers_conditions) InferConditions(source);
  }
  VERNIER_RETURN_IF_ERROR(SetObjectives(source, options));
  if (!source.definition.contains("parameters") || source.definition["parameters"].empty()) {
    if (constants.empty()) {
      return FieldError("parameters",
                        "are not in the file, and no trial has any; give --space FILE");
    }
    return FieldError("parameters",
                      fmt::format("none differs between trials ({}); give --space FILE",
                                  fmt::join(constants, ", ")));
  }
  // Not the default of a study with a job: what its tool let run is not to be stopped here.
  if (!source.definition.contains("stopping")) source.definition["stopping"] = "none";
  return codec::StudySpecFromJson(source.definition);
}

// A metric that no trial has is a wrong name, or a column of the file that is damaged: the trials would all be FAILED.
absl::Status CheckObjectivesOccur(const SourceStudy& source, const StudySpec& spec) {
  std::set<std::string> metrics;
  bool has_completed = false;
  for (const SourceTrial& trial : source.trials) {
    has_completed = has_completed || trial.end == SourceTrial::End::kCompleted;
    for (const auto& [name, value] : trial.last.metrics) metrics.insert(name);
    if (trial.curve.empty()) continue;
    for (const auto& [name, value] : trial.curve.back().metrics) metrics.insert(name);
  }
  if (!has_completed) return absl::OkStatus();
  for (const Objective& objective : spec.objectives) {
    if (metrics.contains(objective.metric)) continue;
    const auto why = source.not_metrics.find(objective.metric);
    if (why != source.not_metrics.end()) {
      return FieldError("objective", fmt::format("'{}': {}", objective.metric, why->second));
    }
    const std::vector<std::string> names(metrics.begin(), metrics.end());
    return FieldError("objective",
                      fmt::format("no trial has a metric '{}'{}",
                                  objective.metric,
                                  NearestHint(objective.metric, names)));
  }
  return absl::OkStatus();
}

// --- trials ---

// The value as the domain holds it. Texts of numbers are also choices, so that tables can have them.
ParameterValue FitValue(const Domain& domain, const ParameterValue& value) {
  ParameterValue fit = InKindOf(domain, value);
  const auto* const categorical = std::get_if<CategoricalDomain>(&domain);
  if (categorical == nullptr || WhyIllegal(domain, fit).empty()) return fit;
  for (const ParameterValue& choice : categorical->values) {
    if (FormatValue(choice) == FormatValue(value)) return choice;
  }
  return fit;
}

Point FitPoint(const Space& space, SourceTrial& trial) {
  Point point;
  for (const auto& [name, value] : trial.point) {
    const std::optional<int> index = space.Find(name);
    if (index.has_value()) {
      const auto i = static_cast<std::size_t>(*index);
      point[name] = FitValue(space.parameters()[i].domain, value);
    } else {
      NoteAttribute(trial, name, FormatValue(value));
    }
  }
  return point;
}

void Thin(std::vector<Measurement>& curve) {
  const std::size_t every = (curve.size() + kMostCurve - 1) / kMostCurve;
  std::vector<Measurement> thin;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (i % every == 0 || i + 1 == curve.size()) thin.push_back(std::move(curve[i]));
  }
  curve = std::move(thin);
}

// Turns trials of a source into additions, and counts what is otherwise than in the source.
class Additions {
 public:
  explicit Additions(const StudySpec& spec) : spec_(spec) {}

  absl::Status Add(SourceTrial trial) {
    TrialAddition addition{.point = FitPoint(spec_.space, trial)};
    const absl::Status fits = spec_.space.Check(addition.point);
    if (!fits.ok()) {
      const std::string why = ToValidUtf8(std::string(fits.message()));
      left_out_.push_back(fmt::format("{} ({})", trial.label, why));
      return absl::OkStatus();
    }
    addition.metadata = std::move(trial.metadata);
    VERNIER_RETURN_IF_ERROR(CheckMetrics(trial));
    AddCurve(trial, addition);
    AddEnd(trial, addition);
    additions_.push_back(std::move(addition));
    return absl::OkStatus();
  }

  std::vector<TrialAddition> Take() && { return std::move(additions_); }

  std::vector<std::string> Notes() const {
    std::vector<std::string> notes;
    const auto note = [&](const std::vector<std::string>& labels, std::string_view what) {
      if (labels.empty()) return;
      const std::span<const std::string> named(labels.data(), std::min(labels.size(), kNamed));
      notes.push_back(fmt::format("{} trial{} {}: {}{}",
                                  labels.size(),
                                  labels.size() == 1 ? "" : "s",
                                  what,
                                  fmt::join(named, ", "),
                                  labels.size() > kNamed ? ", …" : ""));
    };
    note(left_out_, "left out, as the point does not fit the space");
    note(without_value_, "completed without a value of every objective, and so FAILED (NO_METRIC)");
    note(diverged_, "completed with NaN or an infinity, and so FAILED (DIVERGED)");
    note(without_curve_, "that had not ended, REQUESTED without the curve: the trial starts again");
    note(waiting_, "that had not ended, REQUESTED: the first to be suggested");
    note(thinned_, fmt::format("with more than {} points of a curve, of which a part", kMostCurve));
    return notes;
  }

 private:
  absl::Status CheckMetrics(const SourceTrial& trial) const {
    const auto check = [&](const Measurement& measurement) {
      return CheckMetricLimits(fmt::format("metrics of {}", trial.label), measurement.metrics);
    };
    VERNIER_RETURN_IF_ERROR(check(trial.last));
    for (const Measurement& point : trial.curve) VERNIER_RETURN_IF_ERROR(check(point));
    return absl::OkStatus();
  }

  void AddCurve(SourceTrial& trial, TrialAddition& addition) {
    std::erase_if(trial.curve, [](const Measurement& point) { return point.metrics.empty(); });
    if (trial.end == SourceTrial::End::kWaiting) {
      (trial.curve.empty() ? waiting_ : without_curve_).push_back(trial.label);
      return;
    }
    if (trial.curve.size() > kMostCurve) {
      thinned_.push_back(trial.label);
      Thin(trial.curve);
    }
    addition.measurements = trial.curve;
  }

  bool HasResult(const Measurement& measurement) const {
    return MissingObjectives(spec_.objectives, measurement.metrics).empty();
  }
  bool IsFinite(const Measurement& measurement) const {
    return std::ranges::all_of(spec_.objectives, [&](const Objective& objective) {
      return std::isfinite(measurement.metrics.at(objective.metric));
    });
  }

  // The result, or the last point of the curve in its place.
  std::optional<Measurement> ResultOf(const SourceTrial& trial) const {
    if (HasResult(trial.last)) return trial.last;
    if (!trial.curve.empty() && HasResult(trial.curve.back())) return trial.curve.back();
    return std::nullopt;
  }

  void AddEnd(const SourceTrial& trial, TrialAddition& addition) {
    const std::string message = trial.message.substr(0, limits::kMessage);
    switch (trial.end) {
      case SourceTrial::End::kWaiting:
        return;
      case SourceTrial::End::kFailed:
        addition.failed = TrialFailure{.failure = trial.failure,
                                       .message = message.empty() ? "failed elsewhere" : message};
        return;
      case SourceTrial::End::kInfeasible:
        addition.infeasible = message.empty() ? "infeasible elsewhere" : message;
        if (HasResult(trial.last)) addition.last = trial.last;
        return;
      case SourceTrial::End::kStopped:
        addition.stopped = message.empty() ? "stopped elsewhere" : message;
        addition.last = ResultOf(trial);
        return;
      case SourceTrial::End::kCancelled:
        addition.stopped = message.empty() ? "cancelled elsewhere" : message;
        return;
      case SourceTrial::End::kCompleted:
        addition.last = ResultOf(trial);
        if (!addition.last.has_value()) {
          without_value_.push_back(trial.label);
          addition.failed = TrialFailure{.failure = FailureClass::kNoMetric,
                                         .message = "completed without a value of the objective"};
        } else if (!IsFinite(*addition.last)) {
          diverged_.push_back(trial.label);
        }
    }
  }

  const StudySpec& spec_;
  std::vector<TrialAddition> additions_;
  // Labels of trials.
  std::vector<std::string> left_out_;
  std::vector<std::string> without_value_;
  std::vector<std::string> diverged_;
  std::vector<std::string> without_curve_;
  std::vector<std::string> waiting_;
  std::vector<std::string> thinned_;
};

}  // namespace

absl::StatusOr<ImportedStudy> Assemble(SourceStudy source, const ImportOptions& options) {
  ImportedStudy study;
  VERNIER_ASSIGN_OR_RETURN(study.spec, Define(source, options));
  VERNIER_RETURN_IF_ERROR(CheckObjectivesOccur(source, study.spec));
  const std::optional<std::int64_t> budget = study.spec.budget.trials;
  Additions additions(study.spec);
  for (SourceTrial& trial : source.trials) {
    VERNIER_RETURN_IF_ERROR(additions.Add(std::move(trial)));
  }
  study.notes = std::move(source.notes);
  std::ranges::move(additions.Notes(), std::back_inserter(study.notes));
  study.trials = std::move(additions).Take();
  if (budget.has_value() && std::cmp_less(*budget, study.trials.size())) {
    study.spec.budget.trials = static_cast<std::int64_t>(study.trials.size());
    study.notes.push_back(
        fmt::format("budget.trials: {} of the definition is less than the {} "
                    "trials, and is raised to their number",
                    *budget,
                    study.trials.size()));
  }
  return study;
}

absl::StatusOr<Json> ParseObjective(const std::string& text) {
  for (const std::string_view goal : {"maximize", "minimize"}) {
    const std::string prefix = std::string(goal) + ":";
    if (text.starts_with(prefix) && text.size() > prefix.size()) {
      return Json{{goal, text.substr(prefix.size())}};
    }
  }
  return FieldError("objective",
                    fmt::format("must be maximize:METRIC or minimize:METRIC, got '{}'", text));
}

ParameterValue ValueOf(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return json.get<double>();
  }
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return json.is_null() ? std::string("None") : codec::ToText(json);
}

Json JsonOf(const ParameterValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

ParameterValue ValueOfText(std::string_view text) {
  const std::string lower = absl::AsciiStrToLower(std::string(text));
  if (lower == "true" || lower == "false") return lower == "true";
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const char* const end = digits.data() + digits.size();
  std::int64_t whole = 0;
  const auto [whole_end, whole_error] = std::from_chars(digits.data(), end, whole);
  if (whole_error == std::errc() && whole_end == end) return whole;
  double number = 0;
  const auto [number_end, number_error] = std::from_chars(digits.data(), end, number);
  if (number_error == std::errc() && number_end == end) return number;
  return std::string(text);
}

std::optional<double> NumberOf(const ParameterValue& value) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* const number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

void NoteOrigin(SourceTrial& trial,
                std::string_view number,
                std::string_view start,
                std::string_view end) {
  const auto note = [&](const char* name, std::string_view text) {
    if (!text.empty()) {
      trial.metadata[{.space = kOriginSpace, .name = name}] = {.type = "",
                                                               .content = std::string(text)};
    }
  };
  note("number", number);
  note("start", start);
  note("end", end);
}

void NoteAttribute(SourceTrial& trial, std::string_view name, std::string content) {
  trial.metadata[{.space = kAttributesSpace, .name = std::string(name)}] = {
      .type = "", .content = std::move(content)};
}

}  // namespace vernier::imports
