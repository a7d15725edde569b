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
#include "vernier/core/trial.h"

// Trials as rows of a table, alike in lists and in live views.
namespace vernier::cli {

struct TrialRow {
  std::int64_t number = 0;
  TrialState state = TrialState::kRequested;
  bool stopped_early = false;
  bool is_best = false;
  std::optional<double> objective;
  std::vector<double> curve;  // The objective, step by step.
  std::string parameters;
  std::optional<absl::Duration> duration;
};

// NUMBER STATE OBJECTIVE CURVE PARAMETERS DURATION. The best trial's number has a "*".
Table TrialTable(std::span<const TrialRow> rows, bool unicode);

Style StyleOf(TrialState state, bool stopped_early);

// "lr=0.00312 width=64": the active parameters in the order of `names`, then any others; floats with three digits.
std::string CompactPoint(const Point& point, std::span<const std::string> names);

}  // namespace vernier::cli
