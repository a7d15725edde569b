#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/rng.h"
#include "vernier/core/space.h"
#include "vernier/core/trial.h"
#include "vernier/problem.h"
#include "vernier/trial_log.h"

namespace vernier {

// A trial that was handed out and has not finished.
struct PendingPoint {
  TrialNumber trial;
  Point point;
};

// A proposed point and what the algorithm thought of it.
struct Suggestion {
  Point point;
  // "model", "initial design", "default point", "earlier study", "random", "sequence", "grid cell".
  std::string origin;
  std::optional<double> acquisition;
  std::optional<double> predicted_mean;  // First objective, user's units and sign.
  std::optional<double> predicted_deviation;
  std::map<std::string, PredictedValue> predicted_others;  // As in SuggestionRecord.
  // Of the objective over the best trial so far, in its units, at least 0; of several objectives there is none.
  std::optional<double> expected_improvement;
  std::map<std::string, double> importance;
  std::string note;
};

struct Suggestions {
  std::vector<Suggestion> points;  // Best first.
  std::string state;               // For the next call. Text, small.
};

// What a model expects at a point.
struct PredictedPoint {
  PredictedValue objective;  // The first one.
  // The other objectives, by metric, and how far outcome constraints are kept, by their text (core Trial's slack); of a
  // constraint that no trial told of there is nothing.
  std::map<std::string, PredictedValue> others;
};

// Proposes points of one problem from what is known so far.
//
// Pure: equal arguments give equal results, bit for bit, whatever ran before and however many threads there are.
// Thread safety: const calls may run concurrently. Durability: none; the study records the returned state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Its name in the catalogue, and a version that changes whenever the output of equal arguments does.
  virtual std::string_view name() const = 0;
  virtual std::string_view version() const = 0;
  // Whether it learns a model of the objective: then it starts from what Problem::earlier says, tells what its
  // suggestions are expected to improve, and Predict answers.
  virtual bool has_model() const { return false; }
  // The options in force, defaults filled in, as JSON with sorted keys.
  virtual std::string options() const = 0;

  // The state from which a study of the same problem and options continues the sequence of one that left `state`. Holds
  // nothing that refers to trials; empty if there is no sequence to continue.
  virtual std::string Continuation(std::string_view /*state*/) const { return ""; }

  // Returns 1 to `count` points of the space, legal and satisfying its constraints, each with its why, kept away from
  // `pending`. In a finite space no point of `finished` or `pending` is returned again; in every space, no point that
  // Problem::earlier says was tried, unless an option asks for it. `finished` is in the order in
  // which the trials ended. `state` is what an earlier call returned, or empty; it may speed up and steady the answer,
  // never decide its validity: a state that cannot be read counts as empty. `stream` is the only source of chance.
  // REQUIRES: count >= 1, and every trial's point lies in the space: studies and AskTell accept no other, so that a call
  // need not look at all of them. One that does look refuses what it finds; nobody proposes an illegal point for it.
  // OutOfRange: the space is exhausted.  InvalidArgument: a trial was seen outside the space.  Cancelled: `stop` fired.
  virtual absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                              std::span<const PendingPoint> pending,
                                              std::string_view state,
                                              Rng stream,
                                              std::size_t count,
                                              std::stop_token stop) const = 0;

  // What is expected at `points`, one for each. Arguments as those of Suggest.
  // FailedPrecondition: the algorithm has no model, or there are too few trials for one.  InvalidArgument: a point is
  // outside the space.  Cancelled: `stop` fired.
  virtual absl::StatusOr<std::vector<PredictedPoint>> Predict(
      const TrialLog::View& /*finished*/,
      std::string_view /*state*/,
      std::span<const Point> /*points*/,
      const std::stop_token& /*stop*/) const {
    return absl::FailedPreconditionError(std::string(name()) + " has no model of the objective");
  }

 protected:
  Optimizer() = default;
};

}  // namespace vernier
