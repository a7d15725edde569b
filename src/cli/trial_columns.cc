// One list of columns for tables and CSV. A column reads its cell from a trial; in CSV it is a column of TrialCsvRows,
// so that the values of the two differ only in their formatting.

#include "src/cli/trial_columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/text.h"
#include "src/core/nearest.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kMetric = "metrics.";
constexpr std::string_view kParameter = "parameters.";

Cell MetricCell(const ListedTrial& listed, const std::string& metric) {
  const auto value = ObjectiveOf(listed.trial, metric);
  return {.text = value ? FormatFigure(*value) : "-"};
}

Cell ParameterCell(const ListedTrial& listed, const std::string& parameter) {
  const auto value = listed.trial.point.find(parameter);
  return {.text = value == listed.trial.point.end() ? "-" : FormatValue(value->second)};
}

TrialColumn MetricColumn(std::string name, const std::string& metric) {
  return {.name = name,
          .column = {.name = std::move(name), .align = Align::kRight},
          .read = [metric](const ListedTrial& listed) { return MetricCell(listed, metric); },
          .csv = std::string(kMetric) + metric};
}

TrialColumn ParameterColumn(std::string name, const std::string& parameter) {
  return {
      .name = name,
      .column = {.name = std::move(name), .align = Align::kRight},
      .read = [parameter](const ListedTrial& listed) { return ParameterCell(listed, parameter); },
      .csv = std::string(kParameter) + parameter};
}

TrialColumn TimeColumn(const std::string& name,
                       std::string title,
                       absl::TimeZone zone,
                       std::optional<absl::Time> (*read)(const Trial&)) {
  return {.name = name,
          .column = {.name = std::move(title)},
          .read = [zone, read](const ListedTrial& listed) -> Cell {
            const auto time = read(listed.trial);
            return {.text = time ? FormatMoment(*time, zone) : "-"};
          },
          .csv = name};
}

TrialColumn PlainColumn(std::string name,
                        Column column,
                        std::function<Cell(const ListedTrial&)> read,
                        std::string csv) {
  return {.name = std::move(name),
          .column = std::move(column),
          .read = std::move(read),
          .csv = std::move(csv)};
}

// Columns of every study.
std::vector<TrialColumn> FixedColumns(const TrialColumnContext& context) {
  // Copied: the lambdas outlive `context`.
  const TrialScale scale = context.scale;
  std::vector<TrialColumn> columns = {
      PlainColumn(
          "number",
          {.name = "NUMBER", .align = Align::kRight},
          [](const ListedTrial& listed) { return NumberCell(listed.row); },
          "number"),
      PlainColumn(
          "state",
          {.name = "STATE"},
          [scale](const ListedTrial& listed) { return StateCell(listed.row, scale); },
          "state"),
      // CSV has no place for a drawing.
      PlainColumn(
          "curve",
          CurveColumn(),
          [scale](const ListedTrial& listed) { return CurveCell(listed.row, scale); },
          ""),
      PlainColumn(
          "parameters",
          {.name = "PARAMETERS", .flexible = true},
          [](const ListedTrial& listed) -> Cell { return {.text = listed.row.parameters}; },
          std::string(kParameter)),
      PlainColumn(
          "duration",
          {.name = "DURATION", .align = Align::kRight},
          [](const ListedTrial& listed) -> Cell {
            return {.text = listed.row.duration ? FormatElapsed(*listed.row.duration) : "-"};
          },
          "duration"),
      PlainColumn(
          "measurements",
          {.name = "MEASUREMENTS", .align = Align::kRight},
          [](const ListedTrial& listed) -> Cell {
            return {.text = std::to_string(listed.trial.measurements)};
          },
          "measurements"),
      PlainColumn(
          "attempts",
          {.name = "ATTEMPTS", .align = Align::kRight},
          [](const ListedTrial& listed) -> Cell {
            return {.text = std::to_string(listed.trial.attempts.size())};
          },
          "attempts"),
      PlainColumn(
          "failure",
          {.name = "FAILURE"},
          [](const ListedTrial& listed) -> Cell {
            const FailureClass failure = listed.trial.failure;
            return {.text = failure == FailureClass::kNone
                                ? "-"
                                : std::string(FailureClassName(failure))};
          },
          "failure"),
      PlainColumn(
          "message",
          MessageColumn(),
          [](const ListedTrial& listed) -> Cell {
            return {.text = FirstLine(listed.trial.message)};
          },
          "message"),
      TimeColumn("create_time",
                 "CREATED",
                 context.zone,
                 [](const Trial& trial) { return std::optional(trial.created); }),
      TimeColumn(
          "start_time", "STARTED", context.zone, [](const Trial& trial) { return trial.started; }),
      TimeColumn(
          "end_time", "ENDED", context.zone, [](const Trial& trial) { return trial.ended; })};
  const StudySpec& spec = context.study.study.spec;
  if (!spec.objectives.empty()) {
    const std::string& objective = spec.objectives.front().metric;
    columns.push_back(MetricColumn("objective", objective));
    // The last value that a failed trial reported is not its result.
    columns.back().read = [objective](const ListedTrial& listed) {
      const bool has_failed = listed.trial.state == TrialState::kFailed;
      return has_failed ? Cell{.text = "-"} : MetricCell(listed, objective);
    };
    columns.back().column.name = spec.objectives.size() == 1 ? "OBJECTIVE" : objective;
  }
  return columns;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::StatusOr<TrialColumn> Find(const std::string& name,
                                 const std::vector<TrialColumn>& fixed,
                                 const TrialColumnContext& context) {
  for (const TrialColumn& column : fixed) {
    if (column.name == name) return column;
  }
  const std::vector<std::string> parameters = context.study.parameter_names();
  const auto without = [&name](std::string_view prefix) {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
  };
  // Fixed columns win over parameters, and parameters over metrics; a prefix reaches the others.
  if (Contains(parameters, name)) return ParameterColumn(name, name);
  if (Contains(context.metrics, name)) return MetricColumn(name, name);
  if (Contains(parameters, without(kParameter))) return ParameterColumn(name, without(kParameter));
  if (Contains(context.metrics, without(kMetric))) return MetricColumn(name, without(kMetric));
  std::vector<std::string> known = parameters;
  known.insert(known.end(), context.metrics.begin(), context.metrics.end());
  for (const TrialColumn& column : fixed) known.push_back(column.name);
  return InvalidArgument("--columns: unknown column '{}'{}", name, NearestHint(name, known));
}

std::vector<std::string> SplitWords(std::string_view words) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = words.find(',');
    names.push_back(FirstLine(words.substr(0, comma)));  // Strips blanks.
    if (comma == std::string_view::npos) return names;
    words.remove_prefix(comma + 1);
  }
}

}  // namespace

absl::StatusOr<std::vector<TrialColumn>> ChooseColumns(std::string_view words,
                                                       const TrialColumnContext& context) {
  std::vector<std::string> names = SplitWords(words);
  // A row without its number could not be found again.
  if (!Contains(names, "number")) names.insert(names.begin(), "number");
  const std::vector<TrialColumn> fixed = FixedColumns(context);
  std::vector<TrialColumn> columns;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return InvalidArgument("--columns: '{}' is given twice", name);
    VERNIER_ASSIGN_OR_RETURN(columns.emplace_back(), Find(name, fixed, context));
  }
  return columns;
}

std::vector<TrialColumn> WideColumns(const TrialColumnContext& context) {
  std::vector<TrialColumn> fixed = FixedColumns(context);
  const auto take = [&](std::string_view name) {
    return *std::find_if(fixed.begin(), fixed.end(), [name](const TrialColumn& column) {
      return column.name == name;
    });
  };
  std::vector<TrialColumn> columns = {take("number"), take("state")};
  for (const std::string& metric : context.metrics) {
    columns.push_back(MetricColumn(metric, metric));
  }
  columns.push_back(take("curve"));
  for (const std::string& name : context.study.parameter_names()) {
    columns.push_back(ParameterColumn(name, name));
  }
  for (const char* name : {"start_time", "duration", "attempts", "failure", "message"}) {
    columns.push_back(take(name));
  }
  return columns;
}

Table MakeTrialTable(const std::vector<TrialColumn>& columns,
                     const std::vector<TrialRecord>& trials,
                     std::span<const TrialSummary> rows) {
  std::vector<Column> heads;
  heads.reserve(columns.size());
  for (const TrialColumn& column : columns) heads.push_back(column.column);
  Table table(std::move(heads));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    std::vector<Cell> cells;
    cells.reserve(columns.size());
    for (const TrialColumn& column : columns) {
      cells.push_back(column.read({.trial = trials[i].trial, .row = rows[i]}));
    }
    table.AddRow(std::move(cells));
  }
  return table;
}

absl::StatusOr<ordered_json> SelectCsvColumns(const std::vector<TrialColumn>& columns,
                                              const ordered_json& rows) {
  ordered_json selected = ordered_json::array();
  // All columns are checked before any row is selected.
  for (const TrialColumn& column : columns) {
    if (!column.csv.empty()) continue;
    return InvalidArgument(
        "--columns: CSV has no column '{}'; `vernier trial metrics STUDY TRIAL -o csv` lists the "
        "values of one trial",
        column.name);
  }
  for (const ordered_json& row : rows) {
    ordered_json kept = ordered_json::object();
    for (const TrialColumn& column : columns) {
      if (column.csv == kParameter) {  // One column for each parameter.
        for (const auto& [key, value] : row.items()) {
          if (key.starts_with(kParameter)) kept[key] = value;
        }
        continue;
      }
      // A row may lack a value that other rows have.
      const auto value = row.find(column.csv);
      kept[column.name] = value == row.end() ? ordered_json() : *value;
    }
    selected.push_back(std::move(kept));
  }
  return selected;
}

}  // namespace vernier::cli
