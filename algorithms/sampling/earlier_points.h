#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "src/core/cells.h"
#include "vernier/trial_log.h"

namespace vernier::sampling {

// The points that earlier studies of a problem have tried. Immutable; thread-safe.
class EarlierPoints {
 public:
  // Collects the points of problem.earlier.
  // InvalidArgument: a FieldError with path "warm_start[0]": an earlier study has a point outside the space.
  static absl::StatusOr<EarlierPoints> Of(const Problem& problem);

  // Whether the point was tried. O(log n).  REQUIRES: cells of a legal point.
  bool Contains(std::span<const Cell> cells) const;
  // All points, without duplicates.
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  // Number of trials of all earlier studies, in any state.
  std::uint64_t trials() const { return trials_; }
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::vector<Cell>> rows_;  // In ascending lexicographic order.
  std::uint64_t trials_ = 0;
};

}  // namespace vernier::sampling
