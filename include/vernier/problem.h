#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vernier/core/ids.h"
#include "vernier/core/objective.h"
#include "vernier/core/space.h"

namespace vernier {

enum class Outcome : std::uint8_t {
  kCompleted,     // `values` are the results of the point.
  kStoppedEarly,  // `values` are the last ones before the trial was stopped.
  kFailed,        // No values; another try of the point might succeed.
  kInfeasible,    // No values; the point cannot be evaluated.
};

// Prediction of the value that a trial would have ended with.
struct ExpectedEnd {
  double mean = 0;  // In the user's units and sign.
  double deviation = 0;
  friend bool operator==(const ExpectedEnd&, const ExpectedEnd&) = default;
};

// A finished trial, as an optimiser sees it.
struct Observation {
  TrialNumber trial;
  Point point;
  Outcome outcome = Outcome::kCompleted;
  // One for each objective, in the user's units and sign. May hold NaN or infinities.
  std::vector<double> values = {};
  // One for each outcome constraint: 0 or more if the trial satisfies it, negative if not, NaN if unknown.
  std::vector<double> slacks = {};
  // Of the first objective, if the trial was stopped early and the stopping rule predicts ends.
  std::optional<ExpectedEnd> expected_end = {};
  friend bool operator==(const Observation&, const Observation&) = default;
};

// Results of an earlier study, a source of a warm start: completed trials in the space, objectives and constraints of
// the new problem.
struct EarlierStudy {
  std::string name;
  std::vector<Observation> trials;
  // Other points that it tried: of trials that failed, were stopped early or have not ended, and of trials beyond the
  // number that is copied.
  std::vector<Point> tried = {};
  // Number of all its trials, in any state. Counts as the size of `trials` if that is larger; 0: unknown.
  std::int64_t count = 0;
  // Its space has parameters that the problem lacks. Points of `trials` may then lack a value that they were measured
  // with, so that only the points in `tried` count as tried.
  bool is_projected = false;
  friend bool operator==(const EarlierStudy&, const EarlierStudy&) = default;
};

// The input of an optimiser: what to optimise, in which space.
struct Problem {
  Space space;
  std::vector<Objective> objectives;
  std::vector<std::string> outcome_constraints = {};  // Over metrics, as the user wrote them.
  // Earlier studies. Their points are not proposed again, unless an option of the algorithm asks for it; "gp" also
  // learns from their results.
  std::vector<EarlierStudy> earlier = {};
};

}  // namespace vernier
