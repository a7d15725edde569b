#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/import/source_study.h"

// Trials in tables, and in folders of Ray Tune.
namespace vernier::imports {

// A table in CSV by RFC 4180: a header, and rows with a field for each column. Fields are separated by commas, semicolons or tabs,
// whichever the header has most of.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  char separator = ',';
};
// InvalidArgument: no header, a column without a name or twice, a row with another number of fields, a quote that is not
// closed or stands inside of a field, a field that is too long, no UTF-8; "line N: …".
absl::StatusOr<Table> ParseCsv(std::string_view text);

// A table of trials. Its parameters are those that the space names or the user lists, or the columns that begin with
// "params_" (pandas tables of Optuna) or "config/" (of Ray Tune). Other columns with numbers are metrics.
absl::StatusOr<SourceStudy> ReadTrialTable(const std::string& path, const ImportOptions& options);

// The folder of an experiment of Ray Tune.
absl::StatusOr<SourceStudy> ReadRayFolder(const std::string& path, const ImportOptions& options);

}  // namespace vernier::imports
