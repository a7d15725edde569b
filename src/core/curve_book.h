#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vernier/core/ids.h"
#include "vernier/core/space.h"
#include "vernier/early_stopper.h"
#include "vernier/problem.h"

namespace vernier {

// What a rule expects of a trial according to its verdict's numbers; nullopt if it does not say.
std::optional<ExpectedEnd> ExpectedEndOf(const std::map<std::string, double>& numbers);

// The learning curves of a study's trials, in the order of their numbers. Not thread-safe.
class CurveBook {
 public:
  // The first trial has the next number.
  explicit CurveBook(std::int64_t trials_before = 0) : trials_before_(trials_before) {}

  // Opens the curve of the next trial.
  void AddTrial(TrialNumber trial);
  // A later value of the same step replaces the earlier. The first value also gives the curve its coordinates, those of
  // `point` in `space` (EmbedPoint): most trials of a study without curves then take no room for them.
  void AddPoint(
      TrialNumber trial, const Space& space, const Point& point, std::int64_t step, double value);
  // `keeps_constraints`: AreKept (outcome_constraint.h) of its slacks.
  void MarkFinished(TrialNumber trial, bool stopped_early, bool keeps_constraints = true);
  // Undoes MarkFinished: the trial goes on.
  void Reopen(TrialNumber trial);
  // Leaves an empty curve that did not finish.
  void Forget(TrialNumber trial);

  // Gives the trial this curve. REQUIRES: its own is open.
  void Restore(Curve curve);

  // What `rule` says of the trial, all others beside it. Moves the curve aside and back instead of copying the book:
  // that costs as much as there are later trials, which for a running one are few.
  Verdict Judge(const EarlyStopper& rule, TrialNumber trial);

  const Curve& Get(TrialNumber trial) const;
  // Of its complete curves (complete_curves.h).
  std::int64_t UsualReports() const;

 private:
  std::size_t IndexOf(TrialNumber trial) const {
    return static_cast<std::size_t>(trial.value() - trials_before_ - 1);
  }

  std::int64_t trials_before_;
  std::vector<Curve> curves_;  // In the order of the trials' numbers.
};

}  // namespace vernier
