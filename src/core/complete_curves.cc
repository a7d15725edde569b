#include "src/core/complete_curves.h"

#include <algorithm>

namespace vernier {

std::vector<const Curve*> CompleteCurves(std::span<const Curve> curves) {
  std::vector<const Curve*> complete;
  for (const Curve& curve : curves) {
    if (curve.finished && !curve.stopped_early && curve.points.size() >= 2) {
      complete.push_back(&curve);
    }
  }
  return complete;
}

std::int64_t UsualReports(std::span<const Curve* const> complete) {
  if (complete.empty()) return 0;
  std::vector<std::int64_t> reports;
  reports.reserve(complete.size());
  for (const Curve* curve : complete) reports.push_back(std::ssize(curve->points));
  const auto middle = reports.begin() + (std::ssize(reports) - 1) / 2;
  std::ranges::nth_element(reports, middle);
  return *middle;
}

}  // namespace vernier
