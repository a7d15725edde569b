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
  const TrialRow& row;
};

struct TrialColumn {
  std::string name;  // As the user writes it.
  Column column;
  std::function<Cell(const ListedTrial&)> read;
  std::string csv;  // The column of TrialCsvRows that has the value; empty: none has.
};

// What the columns are made for.
struct TrialColumnContext {
  const StudyRecord& study;
  std::vector<std::string> metrics;  // All that trials reported, objectives first.
  TrialScale scale;
  absl::TimeZone zone;
};

// The columns of a list in words, "number,lr,loss", the number first even where it is not named. Parameters and metrics
// go by their own names, or by parameters.NAME and metrics.NAME.
// InvalidArgument: a column that is not there, or is named twice.
absl::StatusOr<std::vector<TrialColumn>> ChooseColumns(std::string_view words,
                                                       const TrialColumnContext& context);

// Every metric and every parameter in a column of its own: what `-o wide` shows.
std::vector<TrialColumn> WideColumns(const TrialColumnContext& context);

// REQUIRES: as many rows as trials.
Table MakeTrialTable(const std::vector<TrialColumn>& columns,
                     const std::vector<TrialRecord>& trials,
                     std::span<const TrialRow> rows);

// The rows of TrialCsvRows with these columns only, under the names that the user gave them.
// InvalidArgument: a column that CSV does not have.
absl::StatusOr<nlohmann::ordered_json> SelectCsvColumns(const std::vector<TrialColumn>& columns,
                                                        const nlohmann::ordered_json& rows);

}  // namespace vernier::cli
