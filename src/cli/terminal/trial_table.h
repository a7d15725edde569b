#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/table.h"
#include "vernier/core/space.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// Trials as rows of a table, the same in lists and in live views.
namespace vernier::cli {

struct TrialSummary {
  std::int64_t number = 0;
  TrialState state = TrialState::kRequested;
  bool stopped_early = false;      // Completed after it was told to stop.
  std::int64_t last_step = 0;      // Of its last measurement; 0: none.
  bool is_best = false;            // With several objectives: optimal.
  bool breaks_constraint = false;  // Completed without satisfying every outcome constraint.
  std::vector<std::optional<double>> objectives;  // In the study's order.
  std::vector<double> curve;                      // The first objective, step by step.
  std::string parameters;
  std::optional<absl::Duration> duration;
  std::string message;  // Why it failed, one line.
};

constexpr int kCurveWidth = 8;

// What all rows of a table are scaled by.
struct TrialScale {
  bool unicode = true;
  std::int64_t longest = 0;  // The last step of the longest curve.
  std::optional<CurveScale> curves;
};
// The scale for `rows`; `longest`: last step of a longer curve that is not among them.
TrialScale ScaleOf(std::span<const TrialSummary> rows, bool unicode, std::int64_t longest = 0);

// The number, with "*" for the best or an optimal trial, and "!" for one that breaks an outcome constraint.
Cell NumberCell(const TrialSummary& row);
// "COMPLETED", or for a trial that was stopped at step 1 of 10 "STOPPED 1/10".
Cell StateCell(const TrialSummary& row, const TrialScale& scale);
Cell CurveCell(const TrialSummary& row, const TrialScale& scale);
Column CurveColumn();
Column MessageColumn();

// NUMBER STATE OBJECTIVE CURVE PARAMETERS DURATION. Several objectives have a column each, named by metric. If a trial
// failed, MESSAGE says why.
Table TrialTable(std::span<const TrialSummary> rows,
                 std::span<const Objective> objectives,
                 const TrialScale& scale);

// "COMPLETED", "STOPPED 1/10".
std::string StateText(const TrialSummary& row, std::int64_t longest);

Style StyleOf(TrialState state, bool stopped_early);

// "lr=0.00312 width=64": active parameters in the order of `names`, then any others; floats with three digits.
std::string CompactPoint(const Point& point, std::span<const std::string> names);

}  // namespace vernier::cli
