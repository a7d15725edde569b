#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/terminal/table.h"
#include "vernier/core/space.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// Trials as rows of a table, alike in lists and in live views.
namespace vernier::cli {

struct TrialRow {
  std::int64_t number = 0;
  TrialState state = TrialState::kRequested;
  bool stopped_early = false;
  bool is_best = false;            // Or, with several objectives, optimal.
  bool breaks_constraint = false;  // Completed, but not known to keep every outcome constraint.
  std::vector<std::optional<double>> objectives;  // As the study has them.
  std::vector<double> curve;                      // The first objective, step by step.
  std::string parameters;
  std::optional<absl::Duration> duration;
};

// NUMBER STATE OBJECTIVE CURVE PARAMETERS DURATION; of several objectives each has a column with its metric's name. The
// best trial's number has a "*", and so has that of each optimal one; that of one that breaks an outcome constraint "!".
Table TrialTable(std::span<const TrialRow> rows,
                 std::span<const Objective> objectives,
                 bool unicode);

Style StyleOf(TrialState state, bool stopped_early);

// "lr=0.00312 width=64": the active parameters in the order of `names`, then any others; floats with three digits.
std::string CompactPoint(const Point& point, std::span<const std::string> names);

}  // namespace vernier::cli
