#include "python/src/values.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "absl/time/time.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// Up to here every whole number is a double.
constexpr double kMostWhole = 9007199254740992;

nb::object ToObject(const ParameterValue& value) {
  return std::visit([](const auto& held) { return nb::cast(held); }, value);
}

bool HoldsWholeNumbers(const Domain& domain) {
  const auto* const discrete = std::get_if<DiscreteDomain>(&domain);
  return discrete != nullptr && std::ranges::all_of(discrete->values, [](double value) {
           return std::trunc(value) == value && std::abs(value) < kMostWhole;
         });
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

nb::tuple ToPair(const PredictedValue& value) {
  return nb::make_tuple(value.mean, value.deviation);
}

nb::dict ToDict(const std::map<std::string, PredictedValue>& values) {
  nb::dict dict;
  for (const auto& [name, value] : values) dict[name.c_str()] = ToPair(value);
  return dict;
}

}  // namespace

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

nb::tuple ToRow(const Trial& trial, const Space& space) {
  const SuggestionRecord& why = trial.suggestion;
  return nb::make_tuple(trial.number.value(),
                        std::string(TrialStateName(trial.state)),
                        ToDict(trial.point, space),
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
                        why.note);
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
                        study.spec.job.has_value());
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
        nb::make_tuple(point.objective.mean, point.objective.deviation, ToDict(point.others)));
  }
  return list;
}

}  // namespace vernier::python
