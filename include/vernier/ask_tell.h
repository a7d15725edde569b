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

// An optimiser for programs that run their own trials: ask for points, tell their values. Keeps its trials in memory.
//
//   const absl::StatusOr<Space> space = Space::Create({{.name = "x", .domain = FloatDomain{-5, 5}}});
//   auto study = AskTell::Create({*space, {{"loss", Goal::kMinimize}}}, {.name = "gp"}, /*seed=*/7);
//   for (int i = 0; i < 30; ++i) {
//     const auto asked = study->Ask();
//     const double x = std::get<double>(asked->front().suggestion.point.at("x"));
//     if (!study->Tell(asked->front().trial, {x * x}).ok()) break;
//   }
//   const std::optional<Observation> best = study->Best();
//
// No I/O, no threads, no clock. Calls compute in the caller's thread; Ask takes as long as the algorithm.
// Deterministic: equal seeds and equal calls give equal points. Not thread-safe.
class AskTell {
 public:
  // A point to try, and the number by which to tell its result.
  struct Asked {
    TrialNumber trial;
    Suggestion suggestion;  // Of a trial that goes on: its point alone.
    // The step from which a trial that was stopped is to go on ; nullopt: it is a new one.
    std::optional<std::int64_t> resume_from = {};
  };

  // A study without trials. Copies what it needs of `algorithms`, the names that `algorithm` and `stopping` may have.
  // `pausing`: a trial that was stopped can go on from there; Ask returns it again once the rule would not stop it any more.
  // InvalidArgument: `problem` has no objective, the rule needs trials that can go on (EarlyStopper::needs_pausing), or as
  // AlgorithmCatalogue::NewOptimizer and NewEarlyStopper.  Internal: as these.
  static absl::StatusOr<AskTell> Create(
      Problem problem,
      const Choice& algorithm,
      std::uint64_t seed,
      const AlgorithmCatalogue& algorithms = AlgorithmCatalogue::BuiltIn(),
      const Choice& stopping = {.name = "none", .options = {}},
      bool pausing = false);
  AskTell(AskTell&&) noexcept;
  AskTell& operator=(AskTell&&) noexcept;
  ~AskTell();

  // Returns `count` points: of stopped trials that should go on, then new ones. They are pending until they are told. Returns fewer if the algorithm fails after the
  // first of them, for instance because the space has no more; the next call returns the error.
  // OutOfRange (kSpaceExhausted): the space has no point left.  Internal: the algorithm proposed no point, or one outside
  // of the space.
  absl::StatusOr<std::vector<Asked>> Ask(std::size_t count = 1);

  // Completes a pending trial. `values`: one for each objective, in the order of the problem, in the user's units; NaN
  // and infinities are accepted. `slacks`: one for each outcome constraint, 0 or more if the trial satisfies it,
  // negative if not, NaN if unknown.
  // NotFound (kTrialNotFound): the trial was never asked.  FailedPrecondition (kTrialFinished): it was told already.
  // InvalidArgument: the number of values or slacks is wrong; the trial stays pending.
  absl::Status Tell(TrialNumber trial, std::vector<double> values, std::vector<double> slacks = {});

  // Reports a value of the first objective during a pending trial, and returns whether the trial should go on. A later
  // report of a step replaces the earlier one.
  // NotFound, FailedPrecondition: as Tell.
  absl::StatusOr<Verdict> Report(TrialNumber trial, std::int64_t step, double value);

  // As Tell, for a trial that was stopped early; `values` are its last ones. What the stopping rule expected of the trial
  // at its last report, the algorithm learns instead of them.
  absl::Status TellStopped(TrialNumber trial,
                           std::vector<double> values,
                           std::vector<double> slacks = {});

  // Ends a pending trial that failed and has no values. Errors: NotFound and FailedPrecondition as Tell.
  absl::Status TellFailed(TrialNumber trial);

  // Adds a point that was tried elsewhere, under the next number. A whole number may be given as either an integer or a
  // double (Space::InKind).
  // InvalidArgument: the point is outside the space, or the number of values or slacks is wrong.
  absl::Status Add(const Point& point, std::vector<double> values, std::vector<double> slacks = {});

  // Returns the prediction of the algorithm's model at each of `points`, from the trials told so far.
  // FailedPrecondition: the algorithm has no model, or too few trials for one.  InvalidArgument: a point is outside the
  // space.
  absl::StatusOr<std::vector<PredictedPoint>> Predict(std::vector<Point> points) const;

  // Returns the best told trial; nullopt if none counts. A trial counts if it satisfies every outcome constraint and
  // none of its values is NaN. Best by the first objective; ties go to the better in the next ones, then to the earlier
  // trial.
  std::optional<Observation> Best() const;

  // Returns the Pareto-optimal trials among those that count, in the order of their numbers: no other one is as good in
  // every objective and better in one. With one objective that is the best trial alone.
  std::vector<Observation> Optimal() const;

 private:
  struct Rep;
  explicit AskTell(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace vernier
