#include "src/wire/columns.h"

#include <cstdint>
#include <optional>
#include <string>

#include "src/core/counted_metrics.h"
#include "src/core/stopped_early.h"

namespace vernier::wire {
namespace {

// Numbers of lists are doubles. Counts and trial numbers are exact up to 2^53.
Cell Number(std::int64_t value) { return static_cast<double>(value); }
Cell Text(std::string_view value) { return std::string(value); }
Cell MaybeTime(const std::optional<absl::Time>& time) {
  return time.has_value() ? Cell(*time) : Cell();
}

// A parameter's cell is of the kind that the value has, so that kAny columns compare numbers as numbers.
struct ValueCell {
  Cell operator()(bool value) const { return value; }
  Cell operator()(std::int64_t value) const { return Number(value); }
  Cell operator()(double value) const { return value; }
  Cell operator()(const std::string& value) const { return value; }
};

Cell ParameterCell(const Trial& trial, std::string_view name) {
  const auto value = trial.point.find(std::string(name));
  return value == trial.point.end() ? Cell() : std::visit(ValueCell{}, value->second);
}

// What a finished trial counts for; of one that runs, what it reported last. A row without the metric has no cell
// rather than NaN: comparisons with it do not hold, whatever they are.
Cell MetricCell(const Trial& trial, std::string_view name) {
  const std::optional<double> value = CountedValue(trial, std::string(name));
  return value.has_value() ? Cell(*value) : Cell();
}

Cell LabelCell(const Study& study, std::string_view key) {
  const auto value = study.spec.labels.find(std::string(key));
  return value == study.spec.labels.end() ? Cell() : Text(value->second);
}

// In the order in which a message about an unknown column lists them.
constexpr Column<Study> kStudyColumns[] = {
    {"name", ColumnType::kText, [](const Study& s, std::string_view) { return Text(s.spec.name); }},
    {"state",
     ColumnType::kStudyState,
     [](const Study& s, std::string_view) { return Text(StudyStateName(s.state)); }},
    {"reason", ColumnType::kText, [](const Study& s, std::string_view) { return Text(s.reason); }},
    {"algorithm",
     ColumnType::kText,
     [](const Study& s, std::string_view) { return Text(s.spec.algorithm.name); }},
    {"create_time",
     ColumnType::kTime,
     [](const Study& s, std::string_view) { return Cell(s.created); }},
    {"update_time",
     ColumnType::kTime,
     [](const Study& s, std::string_view) { return Cell(s.updated); }},
    {"trial_count",
     ColumnType::kNumber,
     [](const Study& s, std::string_view) { return Number(s.trials); }},
    {"completed_count",
     ColumnType::kNumber,
     [](const Study& s, std::string_view) { return Number(s.completed); }},
    {"failed_count",
     ColumnType::kNumber,
     [](const Study& s, std::string_view) { return Number(s.failed); }},
    {"open_count",
     ColumnType::kNumber,
     [](const Study& s, std::string_view) { return Number(s.open); }},
    {"labels.", ColumnType::kText, &LabelCell},
};

constexpr Column<Trial> kTrialColumns[] = {
    {"number",
     ColumnType::kNumber,
     [](const Trial& t, std::string_view) { return Number(t.number.value()); }},
    {"state",
     ColumnType::kTrialState,
     [](const Trial& t, std::string_view) { return Text(TrialStateName(t.state)); }},
    {"stopped",
     ColumnType::kBool,
     [](const Trial& t, std::string_view) { return Cell(IsStoppedEarly(t)); }},
    {"failure",
     ColumnType::kFailureClass,
     // No failure is no value, so that `failure : *` selects the trials that failed.
     [](const Trial& t, std::string_view) {
       return t.failure == FailureClass::kNone ? Cell() : Text(FailureClassName(t.failure));
     }},
    {"message",
     ColumnType::kText,
     [](const Trial& t, std::string_view) { return Text(t.message); }},
    {"create_time",
     ColumnType::kTime,
     [](const Trial& t, std::string_view) { return Cell(t.created); }},
    {"start_time",
     ColumnType::kTime,
     [](const Trial& t, std::string_view) { return MaybeTime(t.started); }},
    {"end_time",
     ColumnType::kTime,
     [](const Trial& t, std::string_view) { return MaybeTime(t.ended); }},
    // In seconds; of one that has ended.
    {"duration",
     ColumnType::kNumber,
     [](const Trial& t, std::string_view) {
       return t.started.has_value() && t.ended.has_value()
                  ? Cell(absl::ToDoubleSeconds(*t.ended - *t.started))
                  : Cell();
     }},
    {"measurement_count",
     ColumnType::kNumber,
     [](const Trial& t, std::string_view) { return Number(t.measurements); }},
    {"lease.holder",
     ColumnType::kText,
     [](const Trial& t, std::string_view) {
       return t.lease.has_value() ? Text(t.lease->holder) : Cell();
     }},
    {"metrics.", ColumnType::kNumber, &MetricCell},
    {"parameters.", ColumnType::kAny, &ParameterCell},
};

template <typename Row>
std::optional<ColumnType> TypeOf(std::span<const Column<Row>> columns, std::string_view path) {
  const auto* column = FindColumn(columns, path);
  return column == nullptr ? std::nullopt : std::optional(column->type);
}

template <typename Row>
std::string Known(std::span<const Column<Row>> columns) {
  std::string names;
  // For messages about an unknown column: the names as they stand in the tables, families with a place for the name.
  for (const auto& column : columns) {
    if (!names.empty()) names += ", ";
    names += column.name;
    if (column.name.ends_with('.')) names += "NAME";
  }
  return names;
}

}  // namespace

std::span<const Column<Study>> StudyColumns() { return kStudyColumns; }
std::span<const Column<Trial>> TrialColumns() { return kTrialColumns; }

const ColumnSet& StudyColumnSet() {
  static constexpr ColumnSet kSet = {
      .type_of = [](std::string_view path) { return TypeOf(StudyColumns(), path); },
      .known = [] { return Known(StudyColumns()); }};
  return kSet;
}

const ColumnSet& TrialColumnSet() {
  static constexpr ColumnSet kSet = {
      .type_of = [](std::string_view path) { return TypeOf(TrialColumns(), path); },
      .known = [] { return Known(TrialColumns()); }};
  return kSet;
}

}  // namespace vernier::wire
