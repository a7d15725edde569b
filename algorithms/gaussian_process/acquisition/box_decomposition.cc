#include "algorithms/gaussian_process/acquisition/box_decomposition.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "src/core/pareto.h"

// Sweep over the objectives, the last one first (after Lacour, Klamroth and Fonseca, 2017). Works on indices of levels:
// comparisons are exact, and the expected gain computes each level's term once for all boxes. For up to four objectives
// the boxes are few enough to sum exactly, which needs no samples (docs/adr/0014).
namespace vernier::gp {
namespace {

// A point, as the indices of its values among the levels.
using Corner = std::vector<std::size_t>;
// Sides by objective.
using Box = std::vector<BoxDecomposition::Side>;

struct ByCorners {
  bool operator()(const Box& a, const Box& b) const {
    const auto less = [](const BoxDecomposition::Side& x, const BoxDecomposition::Side& y) {
      return std::pair(x.lower, x.upper) < std::pair(y.lower, y.upper);
    };
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less);
  }
};

// Whether `a` is at least `b` in the first `objectives` objectives.
bool Covers(const Corner& a, const Corner& b, std::size_t objectives) {
  return std::equal(a.begin(),
                    a.begin() + static_cast<std::ptrdiff_t>(objectives),
                    b.begin(),
                    [](std::size_t x, std::size_t y) { return x >= y; });
}

// The corners above `height` in objective `j` that no other of them dominates in the objectives before `j`.
std::vector<Corner> Above(const std::vector<Corner>& corners, std::size_t height, std::size_t j) {
  std::vector<Corner> kept;
  for (const Corner& corner : corners) {
    if (corner[j] <= height) continue;
    const auto dominates = [&](const Corner& other) { return Covers(other, corner, j); };
    if (std::any_of(kept.begin(), kept.end(), dominates)) continue;
    std::erase_if(kept, [&](const Corner& other) { return Covers(corner, other, j); });
    kept.push_back(corner);
  }
  return kept;
}

// Boxes, in the first `objectives` objectives, of the region that no corner dominates. Sweeps the last of these
// objectives from its reference upwards. Between two heights only the corners above the lower one dominate anything, so
// the slice is the same problem with one objective fewer. A box that occurs in consecutive slices becomes one box:
// without that, n points would make of the order of n^2 boxes for two objectives already.
std::vector<Box> Sweep(const std::vector<Corner>& corners,
                       std::size_t objectives,
                       const std::vector<std::size_t>& infinity) {
  const std::size_t j = objectives - 1;
  if (j == 0) {
    std::size_t highest = 0;
    for (const Corner& corner : corners) highest = std::max(highest, corner[0]);
    return {{{.lower = highest, .upper = infinity[0]}}};
  }
  std::vector<std::size_t> heights = {0};
  for (const Corner& corner : corners) heights.push_back(corner[j]);
  std::sort(heights.begin(), heights.end());
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());

  std::vector<Box> closed;
  std::map<Box, std::size_t, ByCorners> open;  // The height at which each open box began.
  const auto close = [&](Box box, std::size_t from, std::size_t to) {
    box.push_back({.lower = from, .upper = to});
    closed.push_back(std::move(box));
  };
  for (const std::size_t height : heights) {
    std::map<Box, std::size_t, ByCorners> next;
    for (Box& box : Sweep(Above(corners, height, j), j, infinity)) {
      const auto same = open.find(box);
      next.emplace(std::move(box), same == open.end() ? height : same->second);
    }
    for (const auto& [box, from] : open) {
      if (!next.contains(box)) close(box, from, height);
    }
    open = std::move(next);
  }
  for (const auto& [box, from] : open) close(box, from, infinity[j]);
  return closed;
}

double SquaredDistance(const ObjectiveVector& a, const ObjectiveVector& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

}  // namespace

BoxDecomposition Decompose(std::span<const ObjectiveVector> points,
                           const ObjectiveVector& reference) {
  const std::size_t objectives = reference.size();
  const std::vector<bool> dominated = Dominated(points);
  std::vector<ObjectiveVector> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_above =
        std::equal(points[i].begin(), points[i].end(), reference.begin(), std::greater<>());
    if (is_above && !dominated[i]) kept.push_back(points[i]);
  }
  BoxDecomposition out;
  std::vector<Corner> corners(kept.size(), Corner(objectives));
  std::vector<std::size_t> infinity(objectives);
  for (std::size_t j = 0; j < objectives; ++j) {
    std::vector<double> levels = {reference[j]};
    for (const ObjectiveVector& point : kept) levels.push_back(point[j]);
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto at = std::lower_bound(levels.begin(), levels.end(), kept[i][j]);
      corners[i][j] = static_cast<std::size_t>(at - levels.begin());
    }
    infinity[j] = levels.size();
    levels.push_back(std::numeric_limits<double>::infinity());
    out.levels.push_back(std::move(levels));
  }
  out.boxes.resize(objectives);
  for (const Box& box : Sweep(corners, objectives, infinity)) {
    for (std::size_t j = 0; j < objectives; ++j) out.boxes[j].push_back(box[j]);
  }
  return out;
}

std::vector<std::size_t> Spread(std::span<const ObjectiveVector> points, std::size_t limit) {
  std::vector<std::size_t> chosen(points.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (points.size() <= limit) return chosen;
  chosen.clear();
  // Squared distance to the nearest chosen point; negative: the point itself is chosen.
  std::vector<double> distance(points.size(), std::numeric_limits<double>::infinity());
  const auto choose = [&](std::size_t i) {
    if (distance[i] < 0 || chosen.size() == limit) return;
    chosen.push_back(i);
    for (std::size_t k = 0; k < points.size(); ++k) {
      distance[k] = std::min(distance[k], SquaredDistance(points[i], points[k]));
    }
    distance[i] = -1.0;
  };
  for (std::size_t j = 0; j < points.front().size(); ++j) {
    const auto best = std::max_element(
        points.begin(), points.end(), [j](const auto& a, const auto& b) { return a[j] < b[j]; });
    choose(static_cast<std::size_t>(best - points.begin()));
  }
  while (chosen.size() < limit) {
    const auto farthest = std::max_element(distance.begin(), distance.end());
    choose(static_cast<std::size_t>(farthest - distance.begin()));
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace vernier::gp
