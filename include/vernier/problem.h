#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/core/ids.h"
#include "vernier/core/objective.h"
#include "vernier/core/space.h"

namespace vernier {

enum class Outcome : std::uint8_t {
  kCompleted,     // `values` are what the point is worth.
  kStoppedEarly,  // `values` are the last that were seen before a rule stopped it.
  kFailed,        // No values; the next try of the same point might succeed.
  kInfeasible,    // No values; the point cannot be evaluated.
};

// A finished trial, as an optimiser sees it.
struct Observation {
  TrialNumber trial;
  Point point;
  Outcome outcome = Outcome::kCompleted;
  // One per objective, in the user's units and sign. May hold NaN or infinities.
  std::vector<double> values = {};
  // One per outcome constraint: how far it is kept, negative if broken, NaN if not known.
  std::vector<double> slacks = {};
  friend bool operator==(const Observation&, const Observation&) = default;
};

// What is known from a study made before: completed trials, with points, objectives and constraints of the problem at hand.
struct EarlierStudy {
  std::string name;
  std::vector<Observation> trials;
  // Further points it tried: of trials that failed, were stopped early, have not ended, or are too many to learn from.
  std::vector<Point> tried = {};
  // Number of its trials, whatever became of them. 0: unknown, at least that of `trials`.
  std::int64_t count = 0;
  // Its space has parameters that the problem lacks. Points of `trials` may then lack a value that they were measured with:
  // only those listed in `tried` count as tried.
  bool is_projected = false;
  friend bool operator==(const EarlierStudy&, const EarlierStudy&) = default;
};

// What is to be optimised.
struct Problem {
  Space space;
  std::vector<Objective> objectives;
  std::vector<std::string> outcome_constraints = {};  // Over metrics, as the user wrote them.
  // None of their points is proposed again; "gp" learns from them.
  std::vector<EarlierStudy> earlier = {};
};

}  // namespace vernier
