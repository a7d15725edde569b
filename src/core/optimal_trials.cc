#include "src/core/optimal_trials.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "src/core/outcome_constraint.h"
#include "src/core/pareto.h"

namespace vernier {

bool HasBest(const StudySpec& spec) { return !spec.objectives.empty() || spec.job.has_value(); }

OptimalTrials::OptimalTrials(std::vector<Objective> objectives)
    : objectives_(std::move(objectives)) {}

void OptimalTrials::Tell(TrialNumber trial,
                         std::span<const double> values,
                         std::span<const double> slacks) {
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (!AreKept(slacks) || std::any_of(values.begin(), values.end(), is_nan)) return;
  // Larger is better from here on, as for Dominates.
  std::vector<double> signed_values(values.begin(), values.end());
  for (std::size_t k = 0; k < signed_values.size(); ++k) {
    if (objectives_[k].goal == Goal::kMinimize) signed_values[k] = -signed_values[k];
  }
  const bool is_dominated = std::any_of(optimal_.begin(), optimal_.end(), [&](const auto& rival) {
    return Dominates(rival.second, signed_values);
  });
  if (is_dominated) return;
  std::erase_if(optimal_,
                [&](const auto& rival) { return Dominates(signed_values, rival.second); });
  optimal_.emplace(trial, std::move(signed_values));
  // With one objective, equal values do not dominate each other: keep the earlier trial only.
  const bool is_tie = objectives_.size() <= 1 && optimal_.size() > 1;
  // The map is in the order of numbers, so that the result does not depend on the order of calls.
  if (is_tie) optimal_.erase(std::prev(optimal_.end()));
}

std::vector<TrialNumber> OptimalTrials::optimal() const {
  std::vector<TrialNumber> trials;
  trials.reserve(optimal_.size());
  for (const auto& [trial, values] : optimal_) trials.push_back(trial);
  return trials;
}

std::optional<TrialNumber> OptimalTrials::best() const {
  // max_element returns the first of equal ones, which is the earliest trial.
  const auto best =
      std::max_element(optimal_.begin(), optimal_.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  if (best == optimal_.end()) return std::nullopt;
  return best->first;
}

}  // namespace vernier
