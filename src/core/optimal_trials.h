#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vernier/core/ids.h"
#include "vernier/core/study.h"

namespace vernier {

// Whether the study has a best trial. A job that runs alone has no objective: its first completed trial counts as the best.
bool HasBest(const StudySpec& spec);

// Which of the trials told so far are best, whatever their order was.
//
// A trial counts if it keeps every outcome constraint and none of its values is NaN. Of those that count, the ones are
// optimal that no other dominates (src/core/pareto.h); with one objective just the best, ties go to the earlier trial; with
// none the first.
// Telling one costs as much as there are optimal trials. Not thread-safe.
class OptimalTrials {
 public:
  explicit OptimalTrials(std::vector<Objective> objectives);

  // `values`: one for each objective, in the user's units and sign.  REQUIRES: told once.
  void Tell(TrialNumber trial, std::span<const double> values, std::span<const double> slacks);

  // All that it knows, and the same again from that: the optimal trials with their values, signed so that larger is better.
  const std::map<TrialNumber, std::vector<double>>& entries() const { return optimal_; }
  void Restore(std::map<TrialNumber, std::vector<double>> entries) {
    optimal_ = std::move(entries);
  }

  // In the order of their numbers.
  std::vector<TrialNumber> optimal() const;
  // The one that is best by the first objective. Ties go to the better by the next ones, then to the earlier.
  std::optional<TrialNumber> best() const;

 private:
  std::vector<Objective> objectives_;
  std::map<TrialNumber, std::vector<double>> optimal_;  // See entries().
};

}  // namespace vernier
