// Tables of trials: our own, and those that other tools export (Optuna's trials_dataframe, Ray's get_dataframe, the runs
// of a Weights & Biases sweep).

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/nearest.h"
#include "src/core/status.h"
#include "src/import/input.h"
#include "src/import/tables.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

using End = SourceTrial::End;

// Beginnings of the names of columns that hold parameters: of Optuna, Ray Tune and Vernier.
constexpr std::string_view kParameterPrefixes[] = {"params_", "config/", "parameters."};
// Where a column begins so, as in Vernier's tables, only such columns are metrics.
constexpr std::string_view kMetricPrefix = "metrics.";
// Vernier's column of trials that were stopped early.
constexpr std::string_view kStoppedColumn = "stopped";
// Columns that say what became of a trial, without regard to case.
constexpr std::string_view kStateColumns[] = {"state", "status"};

// Words for the ends of trials, in lower case: of Optuna, Ray Tune, Weights & Biases, Katib and Vernier.
const std::map<std::string, End, std::less<>>& StateWords() {
  static const auto* const kWords = new std::map<std::string, End, std::less<>>{
      {"complete", End::kCompleted},   {"completed", End::kCompleted},
      {"finished", End::kCompleted},   {"succeeded", End::kCompleted},
      {"terminated", End::kCompleted}, {"pruned", End::kStopped},
      {"earlystopped", End::kStopped}, {"stopped", End::kStopped},
      {"killed", End::kStopped},       {"fail", End::kFailed},
      {"failed", End::kFailed},        {"error", End::kFailed},
      {"crashed", End::kFailed},       {"cancelled", End::kFailed},
      {"canceled", End::kFailed},      {"infeasible", End::kInfeasible},
      {"running", End::kWaiting},      {"waiting", End::kWaiting},
      {"pending", End::kWaiting},      {"paused", End::kWaiting},
      {"requested", End::kWaiting},
  };
  return *kWords;
}

// The roles of the columns. Others are attributes.
struct Columns {
  std::map<std::size_t, std::string> parameters;  // Names, by column.
  std::map<std::size_t, std::string> metrics;
  std::optional<std::size_t> state;
  std::optional<std::size_t> stopped;
};

std::string WithoutPrefix(const std::string& column) {
  for (const std::string_view prefix : kParameterPrefixes) {
    if (column.starts_with(prefix) && column.size() > prefix.size()) {
      return column.substr(prefix.size());
    }
  }
  return column;
}

// Names of the parameters that are asked for; empty: those with a prefix.
absl::StatusOr<std::vector<std::string>> WantedParameters(const ImportOptions& options) {
  if (!options.parameters.empty() || options.space.empty()) return options.parameters;
  VERNIER_ASSIGN_OR_RETURN(const ImportedStudy space, ReadStudy(options.space, {}));
  std::vector<std::string> names;
  for (const Parameter& parameter : space.spec.space.parameters()) names.push_back(parameter.name);
  return names;
}

absl::Status FindParameters(const Table& table,
                            const std::vector<std::string>& wanted,
                            Columns& columns) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string name = WithoutPrefix(table.columns[i]);
    const bool is_wanted = std::ranges::find(wanted, name) != wanted.end() ||
                           std::ranges::find(wanted, table.columns[i]) != wanted.end();
    if (wanted.empty() ? name != table.columns[i] : is_wanted) columns.parameters[i] = name;
  }
  for (const std::string& name : wanted) {
    const bool is_there = std::ranges::any_of(columns.parameters, [&](const auto& column) {
      return column.second == name || table.columns[column.first] == name;
    });
    if (is_there) continue;
    return FieldError(
        "parameters",
        fmt::format("the table has no column '{}'{}", name, NearestHint(name, table.columns)));
  }
  if (!columns.parameters.empty()) return absl::OkStatus();
  const std::span<const std::string> named(table.columns.data(),
                                           std::min(table.columns.size(), kListedNames));
  return FieldError("parameters",
                    fmt::format("which columns are parameters is not known; give --parameters "
                                "NAME,NAME or --space FILE; columns: {}",
                                fmt::join(named, ", ")));
}

// What the fields of a column are, as far as they are not empty.
struct Contents {
  std::size_t numbers = 0;
  std::optional<std::size_t> text;  // The first row that holds no number.
};

Contents ContentsOf(const Table& table, std::size_t column) {
  Contents contents;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string& field = table.rows[i][column];
    if (field.empty()) continue;
    if (NumberOf(ValueOfText(field)).has_value()) {
      ++contents.numbers;
    } else if (!contents.text.has_value()) {
      contents.text = i;
    }
  }
  return contents;
}

// Words that tables have for a value that is missing, in lower case. In a column of numbers they cannot be anything else.
constexpr std::string_view kMissing[] = {"na", "n/a", "#n/a", "<na>", "null", "none"};

bool IsWordForMissing(const std::string& field) {
  return std::ranges::find(kMissing, absl::AsciiStrToLower(field)) != std::end(kMissing);
}

// The number in a field as text with a point; empty: it is missing; nothing: it is no number.
std::optional<std::string> NumberText(std::string field, char separator) {
  if (field.empty() || IsWordForMissing(field)) return "";
  if (NumberOf(ValueOfText(field)).has_value()) return field;
  const std::size_t comma = field.find(',');
  if (separator == ',' || comma == field.npos || field.find('.') != field.npos) return std::nullopt;
  field[comma] = '.';
  return NumberOf(ValueOfText(field)).has_value() ? std::optional(field) : std::nullopt;
}

// Brings the columns that hold nothing but numbers to one form. Spreadsheets write decimal commas where the language has them, and
// then other separators between fields.
void NormalizeNumbers(Table& table, SourceStudy& study) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::vector<std::string> numbers;
    for (const std::vector<std::string>& row : table.rows) {
      std::optional<std::string> number = NumberText(row[i], table.separator);
      if (!number.has_value()) break;
      numbers.push_back(*std::move(number));
    }
    const bool has_any =
        std::ranges::any_of(numbers, [](const auto& text) { return !text.empty(); });
    if (numbers.size() < table.rows.size() || !has_any) continue;
    bool has_comma = false;
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      has_comma |= !numbers[row].empty() && numbers[row] != table.rows[row][i];
      table.rows[row][i] = std::move(numbers[row]);
    }
    if (has_comma) study.Note(fmt::format("{}: read with decimal commas", table.columns[i]));
  }
}

// Metrics are all columns with numbers that are not the number of a trial.
void FindOthers(const Table& table, Columns& columns, SourceStudy& study) {
  static const std::set<std::string, std::less<>> kNumbers = {
      "number", "trial", "trial_id", "id", "index", "", "Unnamed: 0"};
  const bool has_prefix = std::ranges::any_of(
      table.columns, [](const std::string& column) { return column.starts_with(kMetricPrefix); });
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (columns.parameters.contains(i)) continue;
    const std::string lower = absl::AsciiStrToLower(table.columns[i]);
    const bool may_be_metric = !has_prefix || table.columns[i].starts_with(kMetricPrefix);
    if (std::ranges::find(kStateColumns, lower) != std::end(kStateColumns)) {
      columns.state = i;
    } else if (has_prefix && lower == kStoppedColumn) {
      columns.stopped = i;
    } else if (may_be_metric && !kNumbers.contains(lower)) {
      const std::string name = table.columns[i].substr(has_prefix ? kMetricPrefix.size() : 0);
      const Contents contents = ContentsOf(table, i);
      if (!contents.text.has_value() && contents.numbers > 0) columns.metrics[i] = name;
      if (!contents.text.has_value()) continue;
      study.not_metrics[name] = fmt::format(
          "row {} has '{}', which is no number", *contents.text + 1, table.rows[*contents.text][i]);
      if (contents.numbers == 0) continue;
      study.Note(fmt::format("{}: no metric, but stored with the trials as metadata; {}",
                             name,
                             study.not_metrics[name]));
    }
  }
}

absl::StatusOr<End> EndOfState(const std::string& text, const std::string& label) {
  std::string word = absl::AsciiStrToLower(text);
  if (word.starts_with("trialstate.")) word = word.substr(std::string_view("trialstate.").size());
  const auto at = StateWords().find(word);
  if (at != StateWords().end()) return at->second;
  return InvalidArgument("{}: unknown state '{}'", label, text);
}

// Without a column for its state, a trial completed if it has a metric.
absl::StatusOr<SourceTrial> TrialOfRow(const Table& table,
                                       const Columns& columns,
                                       std::size_t row,
                                       const std::vector<std::string>& fields) {
  SourceTrial trial{.label = fmt::format("row {}", row + 1), .end = End::kCompleted};
  bool is_stopped = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].empty()) continue;
    if (const auto at = columns.parameters.find(i); at != columns.parameters.end()) {
      trial.point[at->second] = ValueOfText(fields[i]);
    } else if (const auto metric = columns.metrics.find(i); metric != columns.metrics.end()) {
      trial.last.metrics[metric->second] = *NumberOf(ValueOfText(fields[i]));
    } else if (columns.state == i) {
      VERNIER_ASSIGN_OR_RETURN(trial.end, EndOfState(fields[i], trial.label));
      if (trial.end != End::kCompleted) trial.message = fmt::format("{} in the table", fields[i]);
    } else if (columns.stopped == i) {
      is_stopped = fields[i] == "true";
    } else {
      NoteAttribute(trial, table.columns[i].empty() ? "index" : table.columns[i], fields[i]);
    }
  }
  if (is_stopped && trial.end == End::kCompleted) {
    trial.end = End::kStopped;
    trial.message = "stopped early in the table";
  }
  NoteOrigin(trial, std::to_string(row + 1), "", "");
  return trial;
}

}  // namespace

absl::StatusOr<SourceStudy> ReadTrialTable(const std::string& path, const ImportOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  VERNIER_ASSIGN_OR_RETURN(Table table, ParseCsv(text));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> wanted, WantedParameters(options));
  SourceStudy study;
  study.name = std::filesystem::path(path).stem().string();
  study.infers_space = true;
  study.infers_conditions = true;
  NormalizeNumbers(table, study);
  Columns columns;
  VERNIER_RETURN_IF_ERROR(FindParameters(table, wanted, columns));
  FindOthers(table, columns, study);
  for (const auto& [column, name] : columns.parameters) study.order.push_back(name);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(SourceTrial trial, TrialOfRow(table, columns, i, table.rows[i]));
    study.trials.push_back(std::move(trial));
  }
  std::vector<std::string> metrics;
  for (const auto& [column, name] : columns.metrics) metrics.push_back(name);
  study.Note(fmt::format("metrics: {}",
                         metrics.empty() ? "none" : fmt::format("{}", fmt::join(metrics, ", "))));
  return study;
}

}  // namespace vernier::imports
