#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vernier/core/ids.h"
#include "vernier/core/study.h"

namespace vernier {

// Whether the study can have a best trial. A job without an objective has one: its first completed trial.
bool HasBest(const StudySpec& spec);

// Maintains the Pareto-optimal trials of a study. The result does not depend on the order of calls.
//
// A trial counts if it satisfies every outcome constraint and none of its values is NaN. A trial that counts is optimal
// if no other one dominates it (src/core/pareto.h). With one objective only the best is optimal, and ties go to the
// earlier trial; with no objective only the first is. Tell takes time proportional to the number of optimal trials. Not
// thread-safe.
class OptimalTrials {
 public:
  explicit OptimalTrials(std::vector<Objective> objectives);

  // Adds a trial. `values`: one for each objective, in the user's units and sign.  REQUIRES: each trial is added once.
  void Tell(TrialNumber trial, std::span<const double> values, std::span<const double> slacks);

  // The whole state, to store it and to restore it: the optimal trials with their values, negated for objectives to
  // minimize.
  const std::map<TrialNumber, std::vector<double>>& entries() const { return optimal_; }
  void Restore(std::map<TrialNumber, std::vector<double>> entries) {
    optimal_ = std::move(entries);
  }

  // In the order of their numbers.
  std::vector<TrialNumber> optimal() const;
  // The trial that is best by the first objective. Ties go to the better in the next ones, then to the earlier.
  std::optional<TrialNumber> best() const;

 private:
  std::vector<Objective> objectives_;
  std::map<TrialNumber, std::vector<double>> optimal_;  // See entries().
};

}  // namespace vernier
