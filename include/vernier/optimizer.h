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

// A trial that is running or waits to run.
struct PendingPoint {
  TrialNumber trial;
  Point point;
};

// A proposed point, with the algorithm's reasons. SuggestionRecord (core/trial.h) describes the fields.
struct Suggestion {
  Point point;
  // "model", "initial design", "default point", "earlier study", "random", "sequence", "grid cell".
  std::string origin;
  std::optional<double> acquisition;
  std::optional<double> predicted_mean;  // First objective, user's units and sign.
  std::optional<double> predicted_deviation;
  std::map<std::string, PredictedValue> predicted_others;  // As in SuggestionRecord.
  // Expected improvement of the objective over the best trial so far, in its units, 0 or more. Unset with several
  // objectives.
  std::optional<double> expected_improvement;
  std::map<std::string, double> importance;
  std::string note;
};

// The answer of Suggest.
struct Suggestions {
  std::vector<Suggestion> points;  // At least one; best first.
  std::string state;               // State for the next call: short text, stored with the trials.
};

// Prediction of a model at a point.
struct PredictedPoint {
  PredictedValue objective;  // First objective.
  // Other objectives, by metric; slacks of outcome constraints (Observation::slacks), by their text. A constraint whose
  // slack is unknown in every trial has no entry.
  std::map<std::string, PredictedValue> others;
};

// An algorithm for one problem: proposes points from the trials so far. Implement it, and add a factory to an
// AlgorithmCatalogue (docs/guides/writing_an_algorithm.md). The core of a random search:
//
//   absl::StatusOr<Suggestions> Suggest(const TrialLog::View&, std::span<const PendingPoint>, std::string_view,
//                                       Rng stream, std::size_t, std::stop_token) const override {
//     std::vector<double> u(space_.parameters().size());
//     for (double& coordinate : u) coordinate = stream.Uniform();
//     return Suggestions{.points = {{.point = DecodePoint(space_, u), .origin = "random"}}};
//   }
//
// Pure: equal arguments give equal results, bit for bit, whatever ran before and however many threads there are.
// Thread safety: const calls may run concurrently. Durability: none; the study stores the returned state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // The name in the catalogue.
  virtual std::string_view name() const = 0;
  // Must change whenever equal arguments give other suggestions.
  virtual std::string_view version() const = 0;
  // Whether it has a model of the objective. A model learns from Problem::earlier, its suggestions have an
  // expected_improvement, and Predict works.
  virtual bool has_model() const { return false; }
  // The options in force, defaults included, as JSON with sorted keys.
  virtual std::string options() const = 0;

  // Converts the last state of an earlier study into the first state of a new one with the same space and options,
  // which then continues the sequence of points. Must not refer to trials. Empty, the default: there is no sequence.
  virtual std::string Continuation(std::string_view /*state*/) const { return ""; }

  // Returns 1 to `count` points of the space, each with its reasons, away from the `pending` ones. Points are legal and
  // satisfy the constraints. In a finite space, no point of `finished` or `pending` is returned again; in any space, no
  // point that was tried according to Problem::earlier, unless an option asks for it.
  //
  // `finished`: trials in the order in which they ended. `state`: the state that an earlier call returned, or empty. It
  // may make the answer faster or smoother, but the answer must be valid with any state; an unreadable one counts as
  // empty. `stream`: the only source of randomness. Computes in the caller's thread, and may take long; `stop` ends it
  // early.
  //
  // REQUIRES: count >= 1. The points of all trials lie in the space: Studies and AskTell ensure that, so a call need
  // not check it.
  // OutOfRange: the space is exhausted.  InvalidArgument: a trial was found outside the space.  Cancelled: `stop`
  // fired.
  virtual absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                              std::span<const PendingPoint> pending,
                                              std::string_view state,
                                              Rng stream,
                                              std::size_t count,
                                              std::stop_token stop) const = 0;

  // Returns the prediction of the model at each of `points`. Other arguments: as Suggest.
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
