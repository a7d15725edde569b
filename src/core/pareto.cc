#include "src/core/pareto.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "vernier/core/study.h"

namespace vernier {
namespace {

bool IsLarger(double a, double b) { return IsBetter(Goal::kMaximize, a, b); }

// Sorts in descending lexicographic order. A point can then only be dominated by earlier ones, since a dominating point
// is lexicographically larger.
std::vector<std::size_t> LargestFirst(std::span<const std::vector<double>> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [points](std::size_t i, std::size_t j) {
    const std::vector<double>& a = points[i];
    const std::vector<double>& b = points[j];
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), IsLarger);
  });
  return order;
}

}  // namespace

bool Dominates(std::span<const double> a, std::span<const double> b) {
  bool is_better_somewhere = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (IsLarger(b[k], a[k])) return false;
    is_better_somewhere = is_better_somewhere || IsLarger(a[k], b[k]);
  }
  return is_better_somewhere;
}

std::vector<bool> Dominated(std::span<const std::vector<double>> points) {
  std::vector<bool> dominated(points.size(), false);
  std::vector<std::size_t> front;
  for (const std::size_t i : LargestFirst(points)) {
    // With two coordinates, the last point of the front has its largest second coordinate, and every point of the front
    // has a first coordinate at least as large as this point's: if any of them dominates it, the last one does.
    const bool last_decides = points[i].size() <= 2 && !front.empty();
    const auto rivals = std::span(front).last(last_decides ? 1 : front.size());
    dominated[i] = std::any_of(rivals.begin(), rivals.end(), [&](std::size_t rival) {
      return Dominates(points[rival], points[i]);
    });
    if (!dominated[i]) front.push_back(i);
  }
  return dominated;
}

}  // namespace vernier
