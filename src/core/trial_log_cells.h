#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "src/core/cells.h"
#include "vernier/trial_log.h"

namespace vernier {

// Points of a log as it holds them (src/core/cells.h), for who need not make points of them.
struct TrialLogCells {
  static std::span<const Cell> Of(const TrialLog::View& log, std::size_t i) { return log.cells(i); }
  // As TrialLog::Append of what a View of such a log gives. Whether the cells make a point of the space is not checked.
  // InvalidArgument: not one cell for each parameter, value for each objective and slack for each outcome constraint.
  static absl::Status Append(TrialLog& log,
                             TrialNumber trial,
                             Outcome outcome,
                             std::span<const Cell> cells,
                             std::span<const double> values,
                             std::span<const double> slacks) {
    return log.AppendCells(trial, outcome, cells, values, slacks);
  }
};

}  // namespace vernier
