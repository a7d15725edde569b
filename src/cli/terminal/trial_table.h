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

// Trials as rows of a table, alike in lists and in live views.
namespace vernier::cli {

struct TrialRow {
  std::int64_t number = 0;
  TrialState state = TrialState::kRequested;
  bool stopped_early = false;      // Completed, but told to stop before its end.
  std::int64_t last_step = 0;      // Of its measurements; 0: none.
  bool is_best = false;            // Or, with several objectives, optimal.
  bool breaks_constraint = false;  // Completed, but not known to keep every outcome constraint.
  std::vector<std::optional<double>> objectives;  // As the study has them.
  std::vector<double> curve;                      // The first objective, step by step.
  std::string parameters;
  std::optional<absl::Duration> duration;
  std::string message;  // One line on why it failed.
};

constexpr int kCurveWidth = 8;

// What the rows of one table are measured by.
struct TrialScale {
  bool unicode = true;
  std::int64_t longest = 0;  // The last step of the longest curve.
  std::optional<CurveScale> curves;
};
// By `rows` themselves, and by a curve that may be longer than theirs.
TrialScale ScaleOf(std::span<const TrialRow> rows, bool unicode, std::int64_t longest = 0);

// The best trial's number has a "*", and so has that of each optimal one; that of one that breaks an outcome constraint "!".
Cell NumberCell(const TrialRow& row);
// "COMPLETED"; of a trial that was stopped at step 1, where the longest curve has 10, "STOPPED 1/10".
Cell StateCell(const TrialRow& row, const TrialScale& scale);
Cell CurveCell(const TrialRow& row, const TrialScale& scale);
Column CurveColumn();
Column MessageColumn();

// NUMBER STATE OBJECTIVE CURVE PARAMETERS DURATION; of several objectives each has a column with its metric's name. If a
// trial failed, MESSAGE says why.
Table TrialTable(std::span<const TrialRow> rows,
                 std::span<const Objective> objectives,
                 const TrialScale& scale);

// "COMPLETED", "STOPPED 1/10".
std::string StateText(const TrialRow& row, std::int64_t longest);

Style StyleOf(TrialState state, bool stopped_early);

// "lr=0.00312 width=64": the active parameters in the order of `names`, then any others; floats with three digits.
std::string CompactPoint(const Point& point, std::span<const std::string> names);

}  // namespace vernier::cli
