#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vernier/core/space.h"
#include "vernier/core/unit_cube.h"
#include "vernier/optimizer.h"

// Spaces, problems and trials in few words, for tests of algorithms.
namespace vernier::testing {

inline Parameter Float(std::string name,
                       double lower,
                       double upper,
                       Scale scale = Scale::kLinear,
                       std::optional<std::int64_t> points = std::nullopt) {
  FloatDomain domain{.lower = lower, .upper = upper, .scale = scale, .points = points};
  return {.name = std::move(name), .domain = domain};
}
inline Parameter Stepped(std::string name, double lower, double upper, double step) {
  return {.name = std::move(name),
          .domain = FloatDomain{.lower = lower, .upper = upper, .step = step}};
}
inline Parameter Int(std::string name,
                     std::int64_t lower,
                     std::int64_t upper,
                     Scale scale = Scale::kLinear,
                     std::optional<std::int64_t> points = std::nullopt) {
  IntDomain domain{.lower = lower, .upper = upper, .scale = scale, .points = points};
  return {.name = std::move(name), .domain = domain};
}
inline Parameter Discrete(std::string name, std::vector<double> values) {
  return {.name = std::move(name), .domain = DiscreteDomain{std::move(values)}};
}
inline Parameter Categorical(std::string name, std::vector<ParameterValue> values) {
  return {.name = std::move(name), .domain = CategoricalDomain{std::move(values)}};
}
inline Parameter Bool(std::string name) {
  return {.name = std::move(name), .domain = BoolDomain{}};
}

inline Parameter When(Parameter parameter, std::string parent, std::vector<ParameterValue> values) {
  parameter.when.push_back({std::move(parent), std::move(values)});
  return parameter;
}

// The space, which the test has made correctly.
inline Space MakeSpace(std::vector<Parameter> parameters,
                       std::vector<std::string> constraints = {}) {
  return Space::Create(std::move(parameters), std::move(constraints)).value();
}

inline Problem MakeProblem(Space space, Goal goal = Goal::kMaximize) {
  return {.space = std::move(space), .objectives = {{.metric = "value", .goal = goal}}};
}

inline Observation Completed(std::int64_t trial, Point point, double value) {
  return {.trial = TrialNumber(trial),
          .point = std::move(point),
          .outcome = Outcome::kCompleted,
          .values = {value}};
}

// A log of just these trials.
inline TrialLog::View Log(const Problem& problem, const std::vector<Observation>& trials) {
  return TrialLog::Of(problem, trials).value();
}
// … of a problem with one objective.
inline TrialLog::View Log(const Space& space, const std::vector<Observation>& trials) {
  return Log(MakeProblem(space), trials);
}

// Every point of a space with finitely many, found by trying every combination of values: slow, and so plain that it
// can judge the algorithms' own ways of counting.
inline std::set<std::string> AllFeasibleKeys(const Space& space) {
  const std::vector<Parameter>& parameters = space.parameters();
  std::set<std::string> keys;
  std::vector<double> u(parameters.size());
  const std::function<void(std::size_t)> fill = [&](std::size_t i) {
    if (i == parameters.size()) {
      const Point point = DecodePoint(space, u);
      if (space.Satisfies(point)) keys.insert(space.Key(point));
      return;
    }
    for (std::int64_t k = 0; k < *ValueCount(parameters[i]); ++k) {
      u[i] = ToUnit(parameters[i], ValueAt(parameters[i], k));
      fill(i + 1);
    }
  };
  fill(0);
  return keys;
}

}  // namespace vernier::testing
