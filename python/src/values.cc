#include "python/src/values.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "absl/time/time.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "src/core/outcome_constraint.h"
#include "src/core/own_code.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// Up to here every whole number is a double.
constexpr double kMostWhole = 9007199254740992;

bool HoldsWholeNumbers(const DiscreteDomain& domain) {
  return std::ranges::all_of(domain.values, [](double value) {
    return std::trunc(value) == value && std::abs(value) < kMostWhole;
  });
}

bool HoldsWholeNumbers(const Domain& domain) {
  const auto* const discrete = std::get_if<DiscreteDomain>(&domain);
  return discrete != nullptr && HoldsWholeNumbers(*discrete);
}

ParameterValue ToValue(nb::handle value) {
  // A bool is an int, too.
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (!nb::isinstance<nb::int_>(value))
    throw nb::type_error("a value must be bool, int, float or str");
  const long long number = PyLong_AsLongLong(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return static_cast<std::int64_t>(number);
}

std::optional<double> ToSeconds(const std::optional<absl::Time>& time) {
  if (!time.has_value()) return std::nullopt;
  return absl::ToDoubleSeconds(*time - absl::UnixEpoch());
}

// The class of the user's that it names; None if it names none.
nb::object ClassOf(const Choice& choice) {
  const auto named = choice.options.find("class");
  const bool is_own = choice.name == kOwnCode && named != choice.options.end();
  return is_own ? ToObject(named->second) : nb::none();
}

nb::tuple ToPair(const PredictedValue& value) {
  return nb::make_tuple(value.mean, value.deviation);
}

nb::dict ToPairs(const std::map<std::string, PredictedValue>& values) {
  nb::dict dict;
  for (const auto& [name, value] : values) dict[name.c_str()] = ToPair(value);
  return dict;
}

template <typename Range>
void AddRange(nb::dict& fields, const char* key, const Range& range) {
  fields[key] = nb::make_tuple(range.lower, range.upper);
  fields["scale"] = range.scale == Scale::kLinear ? "linear"
                    : range.scale == Scale::kLog  ? "log"
                                                  : "reverse-log";
  if (range.step) fields["step"] = *range.step;
  if (range.points) fields["points"] = *range.points;
}

void AddDomain(nb::dict& fields, const FloatDomain& domain) { AddRange(fields, "float", domain); }
void AddDomain(nb::dict& fields, const IntDomain& domain) { AddRange(fields, "int", domain); }
void AddDomain(nb::dict& fields, const DiscreteDomain& domain) {
  nb::list values;
  const bool is_whole = HoldsWholeNumbers(domain);
  for (const double value : domain.values) {
    values.append(is_whole ? nb::cast(static_cast<std::int64_t>(value)) : nb::cast(value));
  }
  fields["discrete"] = values;
}
void AddDomain(nb::dict& fields, const CategoricalDomain& domain) {
  fields["categorical"] = ToList(domain.values);
}
void AddDomain(nb::dict& fields, const BoolDomain&) { fields["bool"] = nb::dict(); }

// Whether each outcome constraint is satisfied; nothing if the trial has not completed.
std::optional<bool> IsFeasible(const Trial& trial, const StudySpec& spec) {
  if (trial.state != TrialState::kCompleted) return std::nullopt;
  if (spec.outcome_constraints.empty()) return true;
  const auto constraints = ParseOutcomeConstraints(spec);
  return constraints.ok() && AreKept(SlacksOf(*constraints, trial.final_metrics));
}

// The result in the first objective.
std::optional<double> ValueOf(const Trial& trial, const StudySpec& spec) {
  if (spec.objectives.empty()) return std::nullopt;
  const auto found = trial.final_metrics.find(spec.objectives.front().metric);
  if (found == trial.final_metrics.end()) return std::nullopt;
  return found->second;
}

}  // namespace

nb::object ToObject(const ParameterValue& value) {
  return std::visit([](const auto& held) { return nb::cast(held); }, value);
}

nb::list ToList(const std::vector<ParameterValue>& values) {
  nb::list list;
  for (const ParameterValue& value : values) list.append(ToObject(value));
  return list;
}

nb::dict ToDict(const Point& point, const Space& space) {
  nb::dict dict;
  for (const Parameter& parameter : space.parameters()) {
    const auto value = point.find(parameter.name);
    if (value == point.end()) continue;
    const auto* const number = std::get_if<double>(&value->second);
    const bool is_whole = number != nullptr && HoldsWholeNumbers(parameter.domain);
    dict[parameter.name.c_str()] =
        is_whole ? nb::cast(static_cast<std::int64_t>(*number)) : ToObject(value->second);
  }
  return dict;
}

nb::dict ToDict(const std::map<std::string, double>& metrics) {
  nb::dict dict;
  for (const auto& [name, value] : metrics) dict[name.c_str()] = value;
  return dict;
}

Point ToPoint(const nb::dict& values) {
  Point point;
  for (const auto& [name, value] : values) point[nb::cast<std::string>(name)] = ToValue(value);
  return point;
}

nb::list ToList(const Space& space) {
  nb::list list;
  for (const Parameter& parameter : space.parameters()) {
    nb::dict fields;
    std::visit([&](const auto& domain) { AddDomain(fields, domain); }, parameter.domain);
    if (parameter.default_value) fields["default"] = ToObject(*parameter.default_value);
    nb::list when;
    for (const Condition& condition : parameter.when) {
      when.append(nb::make_tuple(condition.parent, ToList(condition.values)));
    }
    if (nb::len(when) > 0) fields["when"] = when;
    list.append(nb::make_tuple(parameter.name, fields));
  }
  return list;
}

nb::tuple ToRow(const Trial& trial, const StudySpec& spec) {
  const SuggestionRecord& why = trial.suggestion;
  return nb::make_tuple(trial.number.value(),
                        std::string(TrialStateName(trial.state)),
                        ToDict(trial.point, spec.space),
                        ToDict(trial.final_metrics),
                        trial.last ? ToDict(trial.last->metrics) : nb::dict(),
                        trial.measurements,
                        trial.failure == FailureClass::kNone
                            ? nb::none()
                            : nb::cast(std::string(FailureClassName(trial.failure))),
                        trial.message,
                        trial.stop ? nb::cast(trial.stop->explanation) : nb::none(),
                        ToSeconds(trial.created),
                        ToSeconds(trial.started),
                        ToSeconds(trial.ended),
                        why.origin,
                        why.predicted_mean,
                        why.predicted_deviation,
                        why.expected_improvement,
                        why.note,
                        IsFeasible(trial, spec),
                        ToDict(why.importance),
                        ValueOf(trial, spec));
}

nb::tuple ToRow(const Study& study) {
  nb::list objectives;
  for (const Objective& objective : study.spec.objectives) {
    objectives.append(nb::make_tuple(objective.metric, objective.goal == Goal::kMaximize));
  }
  std::vector<std::string> parameters;
  for (const Parameter& parameter : study.spec.space.parameters()) {
    parameters.push_back(parameter.name);
  }
  std::vector<std::int64_t> optimal;
  for (const TrialNumber number : study.optimal) optimal.push_back(number.value());
  const nb::object best = study.best ? nb::cast(study.best->value()) : nb::none();
  return nb::make_tuple(study.spec.name,
                        std::string(StudyStateName(study.state)),
                        study.reason,
                        study.trials,
                        study.completed,
                        study.failed,
                        best,
                        optimal,
                        objectives,
                        parameters,
                        study.spec.algorithm.name,
                        study.spec.job.has_value(),
                        ClassOf(study.spec.algorithm),
                        ClassOf(study.spec.stopping));
}

nb::list ToCurve(const std::vector<Measurement>& measurements) {
  nb::list curve;
  for (const Measurement& measurement : measurements) {
    curve.append(nb::make_tuple(
        measurement.step, absl::ToDoubleSeconds(measurement.elapsed), ToDict(measurement.metrics)));
  }
  return curve;
}

nb::list ToPredictions(const std::vector<PredictedPoint>& points) {
  nb::list list;
  for (const PredictedPoint& point : points) {
    list.append(
        nb::make_tuple(point.objective.mean, point.objective.deviation, ToPairs(point.others)));
  }
  return list;
}

}  // namespace vernier::python
