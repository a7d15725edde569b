#include "algorithms/gaussian_process/search/basins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

// Expected improvement stays at the best local optimum: the trials there make the model smooth, and sure of places it
// hardly knows. Which basin is due follows from the trials alone, not from the model, so that its errors do not matter
// (docs/adr/0041).
namespace vernier::gp {
namespace {

// Radius in units of the root of the number of groups, in which distances grow. Two random points of numbers in [0, 1]
// are 0.41 apart on average. Measured: 0.15, 0.2, 0.25 (docs/research/basins.md).
constexpr double kRadius = 0.2;
// Trials without a gain that spend a basin: this number, and one for each group. Measured: docs/research/basins.md.
constexpr std::size_t kPatience = 10;
// Smallest gain that matters, as a share of the distance between the best trial and the median of the first ones: later
// trials crowd near the best. Measured: 1e-3, 1e-4 (docs/research/basins.md).
constexpr double kLeastBasinGain = 1e-4;
constexpr std::size_t kFirst = 10;

// Indices of the values, best first.
std::vector<std::size_t> BestFirst(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&values](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

// Whether the last `patience` of these trials brought less than `least` over those before.
bool AreSpent(std::span<const std::size_t> trials,
              std::span<const double> values,
              std::size_t patience,
              double least) {
  if (trials.size() <= patience) return false;
  const auto best_of = [&values](std::span<const std::size_t> some) {
    double best = -std::numeric_limits<double>::infinity();
    for (const std::size_t i : some) best = std::max(best, values[i]);
    return best;
  };
  return best_of(trials.last(patience)) - best_of(trials.first(trials.size() - patience)) <= least;
}

}  // namespace

double BasinRadius(int groups) { return kRadius * std::sqrt(groups); }

std::vector<Basin> FindBasins(const Eigen::MatrixXd& rows,
                              std::span<const double> values,
                              double radius) {
  const std::vector<std::size_t> order = BestFirst(values);
  const Eigen::MatrixXd points =
      rows(order, Eigen::all).transpose();  // One column each, best first.
  std::vector<Basin> basins;
  std::vector<std::size_t> basin_of(values.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    double nearest = std::numeric_limits<double>::infinity();
    Eigen::Index parent = 0;
    if (k > 0) {
      nearest = (points.leftCols(column).colwise() - points.col(column))
                    .colwise()
                    .squaredNorm()
                    .minCoeff(&parent);
    }
    if (nearest <= radius * radius) {
      basin_of[order[k]] = basin_of[order[static_cast<std::size_t>(parent)]];
    } else {
      basin_of[order[k]] = basins.size();
      basins.push_back({.best = order[k], .trials = {}});
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) basins[basin_of[i]].trials.push_back(i);
  return basins;
}

std::optional<Basin> BasinDue(const Eigen::MatrixXd& rows,
                              std::span<const double> values,
                              int groups) {
  const std::size_t patience = kPatience + static_cast<std::size_t>(groups);
  if (values.size() <= patience) return std::nullopt;
  std::vector<double> first(values.begin(), values.begin() + std::min(kFirst, values.size()));
  std::ranges::sort(first);
  const double least = kLeastBasinGain * (std::ranges::max(values) - first[first.size() / 2]);
  std::vector<Basin> basins = FindBasins(rows, values, BasinRadius(groups));
  for (std::size_t b = 0; b < basins.size(); ++b) {
    if (AreSpent(basins[b].trials, values, patience, least)) continue;
    if (b == 0) return std::nullopt;
    return std::move(basins[b]);
  }
  return std::nullopt;
}

}  // namespace vernier::gp
