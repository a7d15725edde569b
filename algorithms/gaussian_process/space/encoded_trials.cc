#include "algorithms/gaussian_process/space/encoded_trials.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/trial_log_cells.h"

// Trials are encoded once: a log is only ever appended to, so a view that continues an earlier one needs only its tail
// (docs/adr/0015). At 10,000 trials, encoding all of them at each call cost more than the model.
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
          EncodedTrials& encoded) {
  Coordinates u = space.Encode(TrialLogCells::Of(trials, i));
  if (!HasValues(trials, i)) {
    encoded.failed.push_back(std::move(u));
    return;
  }
  if (trials.outcome(i) == Outcome::kStoppedEarly) {
    encoded.stopped_early.push_back(encoded.points.size());
    const double sign = problem.objectives.front().goal == Goal::kMaximize ? 1 : -1;
    const std::optional<ExpectedEnd> expected = trials.expected_end(i);
    const bool is_known =
        expected.has_value() && std::isfinite(expected->mean) && std::isfinite(expected->deviation);
    encoded.expected_ends.push_back(is_known ? sign * expected->mean : std::nan(""));
    encoded.expected_deviations.push_back(is_known ? expected->deviation : std::nan(""));
  }
  encoded.points.push_back(std::move(u));
  for (std::size_t j = 0; j < encoded.values.size(); ++j) {
    const double value = trials.values(i)[j];
    const bool is_larger_better = problem.objectives[j].goal == Goal::kMaximize;
    encoded.values[j].push_back(is_larger_better ? value : -value);
  }
  for (std::size_t k = 0; k < encoded.slacks.size(); ++k) {
    const double slack = trials.slacks(i)[k];
    encoded.slacks[k].push_back(std::isfinite(slack) ? slack : std::nan(""));
  }
}

// Score by which the subsample prefers trials; larger is better. Reciprocal ranks need no common scale of the
// objectives, and a trial that is the best in one of them always ranks high.
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
            EncodedTrials& encoded) {
  if (!finished.Continues(encoded.read) || encoded.values.empty()) {
    encoded = {};
    encoded.values.resize(problem.objectives.size());
    encoded.slacks.resize(problem.outcome_constraints.size());
  }
  for (std::size_t i = encoded.read.size(); i < finished.size(); ++i) {
    Read(space, problem, finished, i, encoded);
  }
  encoded.read = finished;
}

std::vector<double> ModelledValues(const EncodedTrials& encoded, std::size_t objective) {
  std::vector<double> values = encoded.values[objective];
  // Without a completed trial there is no median to compare with: the last values are all that is known.
  if (encoded.stopped_early.empty() || encoded.stopped_early.size() == values.size()) return values;
  std::vector<double> completed;
  completed.reserve(values.size());
  auto stopped = encoded.stopped_early.begin();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_stopped = stopped != encoded.stopped_early.end() && *stopped == i;
    if (is_stopped) ++stopped;
    if (!is_stopped) completed.push_back(values[i]);
  }
  const auto middle = completed.begin() + static_cast<std::ptrdiff_t>((completed.size() - 1) / 2);
  std::nth_element(completed.begin(), middle, completed.end());
  const double best = *std::ranges::max_element(completed);
  for (std::size_t k = 0; k < encoded.stopped_early.size(); ++k) {
    double& value = values[encoded.stopped_early[k]];
    const double expected = objective == 0 ? encoded.expected_ends[k] : std::nan("");
    value = std::isnan(expected) ? std::min(value, *middle) : std::min(expected, best);
  }
  return values;
}

std::vector<double> ModelledDeviations(const EncodedTrials& encoded, std::size_t objective) {
  if (encoded.stopped_early.empty() || objective > 0) return {};
  std::vector<double> deviations(encoded.points.size(), 0.0);
  for (std::size_t k = 0; k < encoded.stopped_early.size(); ++k) {
    const double deviation = encoded.expected_deviations[k];
    if (deviation > 0) deviations[encoded.stopped_early[k]] = deviation;
  }
  return deviations;
}

std::vector<std::size_t> ChooseModelled(std::span<const std::vector<double>> values,
                                        std::size_t limit) {
  const std::size_t count = values.front().size();
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (count <= limit) return all;
  const std::vector<double> goodness = Goodness(values);
  // Shares of the best and the latest: a choice. The best tell where the optimum is, the latest what the search has
  // just learned, the rest keeps the model from forgetting the other regions.
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
