#include "algorithms/sampling/earlier_points.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "fmt/format.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::sampling {
namespace {

// Lexicographic order of rows; compares vectors with spans.
constexpr auto kIsBefore = [](std::span<const Cell> a, std::span<const Cell> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
};

}  // namespace

absl::StatusOr<EarlierPoints> EarlierPoints::Of(const Problem& problem) {
  EarlierPoints points;
  for (std::size_t i = 0; i < problem.earlier.size(); ++i) {
    const EarlierStudy& study = problem.earlier[i];
    const auto add = [&](const Point& point) -> absl::Status {
      const absl::Status legal = problem.space.Check(point);
      if (!legal.ok()) {
        return FieldError(fmt::format("warm_start[{}]", i), std::string(legal.message()));
      }
      points.rows_.push_back(CellsOf(problem.space, point));
      return absl::OkStatus();
    };
    for (const Point& point : study.tried) VERNIER_RETURN_IF_ERROR(add(point));
    for (const Observation& trial : study.trials) {
      // A projected point may lack a value that it was measured with, so that the point of the new space was not tried.
      if (!study.is_projected) VERNIER_RETURN_IF_ERROR(add(trial.point));
    }
    const std::int64_t known = std::ssize(study.trials);
    points.trials_ += static_cast<std::uint64_t>(std::max(study.count, known));
  }
  std::ranges::sort(points.rows_);
  points.rows_.erase(std::unique(points.rows_.begin(), points.rows_.end()), points.rows_.end());
  return points;
}

bool EarlierPoints::Contains(std::span<const Cell> cells) const {
  return std::binary_search(rows_.begin(), rows_.end(), cells, kIsBefore);
}

}  // namespace vernier::sampling
