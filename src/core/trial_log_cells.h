#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "src/core/cells.h"
#include "vernier/trial_log.h"

namespace vernier {

// Access to the cells of a log (src/core/cells.h), for code that need not convert them to points.
struct TrialLogCells {
  static std::span<const Cell> Of(const TrialLog::View& log, std::size_t i) { return log.cells(i); }
  // As TrialLog::Append, with cells from a View of a log of the same problem. Does not check that they are a point of
  // the space.
  // InvalidArgument: the number of cells, values or slacks does not fit the problem.
  static absl::Status Append(TrialLog& log,
                             TrialNumber trial,
                             Outcome outcome,
                             std::span<const Cell> cells,
                             std::span<const double> values,
                             std::span<const double> slacks,
                             const std::optional<ExpectedEnd>& expected_end) {
    return log.AppendCells(trial, outcome, cells, values, slacks, expected_end);
  }
};

}  // namespace vernier
