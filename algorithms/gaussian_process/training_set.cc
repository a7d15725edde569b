#include "algorithms/gaussian_process/training_set.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/gaussian_process/note.h"
#include "fmt/format.h"

// Decides which trials a surrogate sees. Subsamples follow from the trials alone, ties go to the earlier trial, and
// order is kept, so that a set replays and a set that is whole continues the one before.
namespace vernier::gp {
namespace {

// Number of failed trials from which they get a failure model; fewer have poor values (docs/adr/0027). A choice: two
// failures show no border. As poor values however many, failures cost a factor of 10 or more in regret on five of the
// seven problems there.
constexpr std::size_t kFailuresForModel = 3;

// Size of a subsample. A choice: it does not continue the last one, so its factor is computed at once, and n^3 at 5/8
// of the size is a quarter of the work.
std::size_t PartOf(std::size_t max_points) { return std::max<std::size_t>(1, max_points * 5 / 8); }

// Value of a failed trial: the upper end of the worst quarter. Poor, but no worse than trials that worked, so that
// failures by chance do not distort the model.
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
  for (std::vector<double>& deviations : set.deviations) {
    if (!deviations.empty()) deviations.resize(set.points.size(), 0.0);
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

std::vector<std::vector<double>> AllModelledValues(const EncodedTrials& encoded) {
  std::vector<std::vector<double>> values;
  for (std::size_t j = 0; j < encoded.values.size(); ++j) {
    values.push_back(ModelledValues(encoded, j));
  }
  return values;
}

TrainingSet Take(const EncodedTrials& encoded,
                 const std::vector<std::vector<double>>& values,
                 std::span<const std::size_t> chosen) {
  TrainingSet set;
  set.points = Chosen(encoded.points, chosen);
  for (std::size_t j = 0; j < values.size(); ++j) {
    set.values.push_back(Chosen(values[j], chosen));
    const std::vector<double> deviations = ModelledDeviations(encoded, j);
    set.deviations.push_back(deviations.empty() ? deviations : Chosen(deviations, chosen));
  }
  for (const auto& slacks : encoded.slacks) set.slacks.push_back(Chosen(slacks, chosen));
  set.trials = static_cast<std::int64_t>(encoded.trials());
  set.is_whole = chosen.size() == encoded.points.size();
  return set;
}

// Adds failed trials to the set. Whether there is a failure model depends on all failures, not on those near a point.
void AddFailures(const EncodedTrials& encoded, std::vector<Coordinates> failed, TrainingSet& set) {
  if (encoded.failed.size() >= kFailuresForModel) {
    set.failed = std::move(failed);
  } else {
    AddPoorly(failed, set);
  }
}

// Ascending indices of the `count` points nearest to the centre; of equally far ones the earlier.
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

TrainingSet TakeWhole(const EncodedTrials& encoded, const ModelSize& size) {
  const std::vector<std::vector<double>> values = AllModelledValues(encoded);
  const bool fits = encoded.points.size() <= size.points;
  TrainingSet set =
      Take(encoded, values, ChooseModelled(values, fits ? size.points : PartOf(size.points)));
  set.size = size;
  if (!fits) {
    set.note =
        fmt::format("the model looks at {} of {} trials", set.points.size(), encoded.points.size());
  }
  // The latest failures: the search meets the border where it works now.
  const auto kept = static_cast<std::ptrdiff_t>(std::min(encoded.failed.size(), size.points));
  AddFailures(encoded, {encoded.failed.end() - kept, encoded.failed.end()}, set);
  return set;
}

TrainingSet TakeNearby(const EncodedTrials& encoded, const Region& region, const ModelSize& size) {
  const std::size_t count = PartOf(size.points);
  TrainingSet set =
      Take(encoded, AllModelledValues(encoded), Nearest(encoded.points, region, count));
  set.size = size;
  set.is_whole = false;
  set.is_nearby = true;
  set.note =
      fmt::format("looks near the best trial; the model looks at the {} nearest of {} trials",
                  set.points.size(),
                  encoded.points.size());
  AddFailures(encoded, Chosen(encoded.failed, Nearest(encoded.failed, region, count / 4)), set);
  return set;
}

}  // namespace vernier::gp
