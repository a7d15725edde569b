#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "nlohmann/json_fwd.hpp"
#include "src/cli/resources.h"
#include "src/cli/terminal/trial_table.h"

// The columns of `trial list`, which its --columns chooses from.
namespace vernier::cli {

// A trial of a list, whole and as a row.
struct ListedTrial {
  const Trial& trial;
  const TrialSummary& row;
};

struct TrialColumn {
  std::string name;  // As the user writes it.
  Column column;
  std::function<Cell(const ListedTrial&)> read;
  std::string csv;  // The column of TrialCsvRows with the value; empty: none.
};

// What columns need to know.
struct TrialColumnContext {
  const StudyRecord& study;
  std::vector<std::string> metrics;  // All metrics that trials reported, objectives first.
  TrialScale scale;
  absl::TimeZone zone;
};

// Parses --columns, "number,lr,loss"; the number is always the first column. Parameters and metrics are named plainly,
// or as parameters.NAME and metrics.NAME.
// InvalidArgument: an unknown column, or one given twice.
absl::StatusOr<std::vector<TrialColumn>> ChooseColumns(std::string_view words,
                                                       const TrialColumnContext& context);

// One column for each metric and each parameter, for `-o wide`.
std::vector<TrialColumn> WideColumns(const TrialColumnContext& context);

// REQUIRES: as many rows as trials.
Table MakeTrialTable(const std::vector<TrialColumn>& columns,
                     const std::vector<TrialRecord>& trials,
                     std::span<const TrialSummary> rows);

// Rows of TrialCsvRows reduced to these columns, under the names that the user gave.
// InvalidArgument: a column that CSV does not have.
absl::StatusOr<nlohmann::ordered_json> SelectCsvColumns(const std::vector<TrialColumn>& columns,
                                                        const nlohmann::ordered_json& rows);

}  // namespace vernier::cli
