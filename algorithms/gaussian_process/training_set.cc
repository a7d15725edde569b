#include "algorithms/gaussian_process/training_set.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/gaussian_process/note.h"
#include "fmt/format.h"

namespace vernier::gp {
namespace {

// Below so many failures they are given poor values; from it on they get a model of their own.
constexpr std::size_t kFailuresForModel = 3;

// Of a set that is not the whole.
std::size_t PartOf(std::size_t max_points) { return std::max<std::size_t>(1, max_points * 5 / 8); }

// The worst quarter's upper end: poor, but no worse than trials that worked, so that failures by chance do not bend the
// model out of shape.
double PoorValue(std::vector<double> values) {
  const auto quarter = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), quarter, values.end());
  return *quarter;
}

void AddPoorly(const std::vector<Coordinates>& failed, TrainingSet& set) {
  set.points.insert(set.points.end(), failed.begin(), failed.end());
  for (std::vector<double>& values : set.values) {
    values.resize(set.points.size(), PoorValue(values));
  }
  for (std::vector<double>& slacks : set.slacks) {
    slacks.resize(set.points.size(), std::numeric_limits<double>::quiet_NaN());
  }
  if (failed.empty()) return;
  AddNote(fmt::format("{} failed trial{} as poor ones, being too few to learn where trials fail",
                      failed.size(),
                      failed.size() == 1 ? " counts" : "s count"),
          set.note);
}

std::vector<std::vector<double>> AllModelledValues(const History& history) {
  std::vector<std::vector<double>> values;
  for (std::size_t j = 0; j < history.values.size(); ++j) {
    values.push_back(ModelledValues(history, j));
  }
  return values;
}

TrainingSet Take(const History& history,
                 const std::vector<std::vector<double>>& values,
                 std::span<const std::size_t> chosen) {
  TrainingSet set;
  set.points = Chosen(history.points, chosen);
  for (const auto& of_objective : values) set.values.push_back(Chosen(of_objective, chosen));
  for (const auto& slacks : history.slacks) set.slacks.push_back(Chosen(slacks, chosen));
  set.trials = static_cast<std::int64_t>(history.trials());
  set.is_whole = chosen.size() == history.points.size();
  return set;
}

// `failed`: what the set has of those that the history has.
void AddFailures(const History& history, std::vector<Coordinates> failed, TrainingSet& set) {
  if (history.failed.size() >= kFailuresForModel) {
    set.failed = std::move(failed);
  } else {
    AddPoorly(failed, set);
  }
}

// Ascending indices of those nearest to the centre; of equally far ones the earlier.
std::vector<std::size_t> Nearest(const std::vector<Coordinates>& points,
                                 const Region& region,
                                 std::size_t count) {
  std::vector<std::pair<double, std::size_t>> by_distance(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    by_distance[i] = {region.SquaredDistance(points[i]), i};
  }
  if (count < points.size()) {
    std::nth_element(by_distance.begin(),
                     by_distance.begin() + static_cast<std::ptrdiff_t>(count),
                     by_distance.end());
    by_distance.resize(count);
  }
  std::vector<std::size_t> nearest;
  nearest.reserve(by_distance.size());
  for (const auto& [distance, i] : by_distance) nearest.push_back(i);
  std::sort(nearest.begin(), nearest.end());
  return nearest;
}

}  // namespace

TrainingSet TakeWhole(const History& history, const ModelSize& size) {
  const std::vector<std::vector<double>> values = AllModelledValues(history);
  const bool fits = history.points.size() <= size.points;
  TrainingSet set =
      Take(history, values, ChooseModelled(values, fits ? size.points : PartOf(size.points)));
  set.fitted = size.fitted;
  if (!fits) {
    set.note =
        fmt::format("the model looks at {} of {} trials", set.points.size(), history.points.size());
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(history.failed.size(), size.points));
  AddFailures(history, {history.failed.end() - kept, history.failed.end()}, set);
  return set;
}

TrainingSet TakeNearby(const History& history, const Region& region, const ModelSize& size) {
  const std::size_t count = PartOf(size.points);
  TrainingSet set =
      Take(history, AllModelledValues(history), Nearest(history.points, region, count));
  set.fitted = size.fitted;
  set.is_whole = false;
  set.is_nearby = true;
  set.note =
      fmt::format("looks near the best trial; the model looks at the {} nearest of {} trials",
                  set.points.size(),
                  history.points.size());
  AddFailures(history, Chosen(history.failed, Nearest(history.failed, region, count / 4)), set);
  return set;
}

}  // namespace vernier::gp
