#include "algorithms/gaussian_process/space/history.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/trial_log_cells.h"

namespace vernier::gp {
namespace {

bool HasValues(const TrialLog::View& trials, std::size_t i) {
  const Outcome outcome = trials.outcome(i);
  const std::span<const double> values = trials.values(i);
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return (outcome == Outcome::kCompleted || outcome == Outcome::kStoppedEarly) &&
         std::all_of(values.begin(), values.end(), is_finite);
}

void Read(const CoordinateSpace& space,
          const Problem& problem,
          const TrialLog::View& trials,
          std::size_t i,
          History& history) {
  Coordinates u = space.Encode(TrialLogCells::Of(trials, i));
  if (!HasValues(trials, i)) {
    history.failed.push_back(std::move(u));
    return;
  }
  if (trials.outcome(i) == Outcome::kStoppedEarly) {
    history.stopped_early.push_back(history.points.size());
  }
  history.points.push_back(std::move(u));
  for (std::size_t j = 0; j < history.values.size(); ++j) {
    const double value = trials.values(i)[j];
    const bool is_larger_better = problem.objectives[j].goal == Goal::kMaximize;
    history.values[j].push_back(is_larger_better ? value : -value);
  }
  for (std::size_t k = 0; k < history.slacks.size(); ++k) {
    const double slack = trials.slacks(i)[k];
    history.slacks[k].push_back(std::isfinite(slack) ? slack : std::nan(""));
  }
}

// By what trials are chosen, larger is better.
std::vector<double> Goodness(std::span<const std::vector<double>> values) {
  if (values.size() == 1) return values.front();
  std::vector<double> goodness(values.front().size(), 0.0);
  std::vector<std::size_t> order(goodness.size());
  for (const std::vector<double>& of_objective : values) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return of_objective[a] > of_objective[b];
    });
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      goodness[order[rank]] += 1.0 / static_cast<double>(rank + 1);
    }
  }
  return goodness;
}

}  // namespace

void Update(const CoordinateSpace& space,
            const Problem& problem,
            const TrialLog::View& finished,
            History& history) {
  if (!finished.Continues(history.read) || history.values.empty()) {
    history = {};
    history.values.resize(problem.objectives.size());
    history.slacks.resize(problem.outcome_constraints.size());
  }
  for (std::size_t i = history.read.size(); i < finished.size(); ++i) {
    Read(space, problem, finished, i, history);
  }
  history.read = finished;
}

std::vector<double> ModelledValues(const History& history, std::size_t objective) {
  std::vector<double> values = history.values[objective];
  if (history.stopped_early.empty() || history.stopped_early.size() == values.size()) return values;
  std::vector<double> completed;
  completed.reserve(values.size());
  auto stopped = history.stopped_early.begin();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_stopped = stopped != history.stopped_early.end() && *stopped == i;
    if (is_stopped) ++stopped;
    if (!is_stopped) completed.push_back(values[i]);
  }
  const auto middle = completed.begin() + static_cast<std::ptrdiff_t>((completed.size() - 1) / 2);
  std::nth_element(completed.begin(), middle, completed.end());
  for (const std::size_t i : history.stopped_early) values[i] = std::min(values[i], *middle);
  return values;
}

std::vector<std::size_t> ChooseModelled(std::span<const std::vector<double>> values,
                                        std::size_t limit) {
  const std::size_t count = values.front().size();
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (count <= limit) return all;
  const std::vector<double> goodness = Goodness(values);
  const std::size_t best = 2 * limit / 5;
  const std::size_t latest = limit / 5;
  std::nth_element(all.begin(),
                   all.begin() + static_cast<std::ptrdiff_t>(best),
                   all.end(),
                   [&goodness](std::size_t a, std::size_t b) {
                     return goodness[a] != goodness[b] ? goodness[a] > goodness[b] : a < b;
                   });
  std::vector<char> chosen(count, 0);
  for (std::size_t i = 0; i < best; ++i) chosen[all[i]] = 1;
  for (std::size_t i = count - latest; i < count; ++i) chosen[i] = 1;
  std::vector<std::size_t> others;
  others.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!chosen[i]) others.push_back(i);
  }
  const std::size_t rest = limit - (count - others.size());
  for (std::size_t i = 0; i < rest; ++i) chosen[others[i * others.size() / rest]] = 1;
  all.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (chosen[i]) all.push_back(i);
  }
  return all;
}

}  // namespace vernier::gp
