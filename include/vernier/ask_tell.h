#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/choice.h"
#include "vernier/optimizer.h"
#include "vernier/problem.h"

namespace vernier {

// An optimiser with a memory, for programs that run their own trials: ask for points, tell what they were worth.
//
// No I/O, no threads, no clock. Deterministic: equal seeds and equal calls give equal points. Not thread-safe.
class AskTell {
 public:
  struct Asked {
    TrialNumber trial;
    Suggestion suggestion;
  };

  // `algorithms`: what `algorithm` may name.  InvalidArgument: as AlgorithmCatalogue::NewOptimizer.
  static absl::StatusOr<AskTell> Create(
      Problem problem,
      const Choice& algorithm,
      std::uint64_t seed,
      const AlgorithmCatalogue& algorithms = AlgorithmCatalogue::BuiltIn());
  AskTell(AskTell&&) noexcept;
  AskTell& operator=(AskTell&&) noexcept;
  ~AskTell();

  // `count` new points, fewer only if the space has no more.  OutOfRange: it has none left.
  absl::StatusOr<std::vector<Asked>> Ask(std::size_t count = 1);
  // The values of the objectives, and how far the trial keeps each outcome constraint (0 or more if it does, negative if
  // not, NaN if nobody knows), both in the order of the problem.
  // NotFound: never asked.  FailedPrecondition: told already.  InvalidArgument: not one value per objective, not one slack
  // per outcome constraint.
  absl::Status Tell(TrialNumber trial, std::vector<double> values, std::vector<double> slacks = {});
  // The trial failed and has no values.
  absl::Status TellFailed(TrialNumber trial);
  // A point that was tried elsewhere; its numbers may be of either kind (Space::InKind).  InvalidArgument: outside the
  // space, or as Tell.
  absl::Status Add(const Point& point, std::vector<double> values, std::vector<double> slacks = {});

  // What the algorithm's model expects at `points`, from what was told so far: the first objective.
  // FailedPrecondition: it has no model, or too few trials for one.  InvalidArgument: a point is outside the space.
  absl::StatusOr<std::vector<PredictedPoint>> Predict(std::vector<Point> points) const;

  // Of the points told so far that keep every outcome constraint and have a number for every objective: the best by the
  // first objective, then by the next ones, then the earlier.
  std::optional<Observation> Best() const;
  // Those of them that no other one dominates, in the order of their trials: none is as good in every objective and
  // better in one. With one objective that is just the best.
  std::vector<Observation> Optimal() const;

 private:
  struct Rep;
  explicit AskTell(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace vernier
