#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "src/core/cells.h"
#include "vernier/trial_log.h"

namespace vernier::sampling {

// The points that earlier studies of a problem tried. Immutable and thread-safe.
class EarlierPoints {
 public:
  // InvalidArgument: a FieldError with path "warm_start[0]": an earlier study has a point outside the space.
  static absl::StatusOr<EarlierPoints> Of(const Problem& problem);

  // REQUIRES: cells of a legal point.
  bool Contains(std::span<const Cell> cells) const;
  // Each once.
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  // Number of trials of all earlier studies, whatever became of them.
  std::uint64_t trials() const { return trials_; }
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::vector<Cell>> rows_;  // Ascending.
  std::uint64_t trials_ = 0;
};

}  // namespace vernier::sampling
