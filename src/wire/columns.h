#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// The columns of studies and trials, which lists are filtered and ordered by. Their names are those of the messages.
namespace vernier::wire {

enum class ColumnType {
  kNumber,
  kText,
  kTime,
  kStudyState,
  kTrialState,
  kFailureClass,  // Of trials.
  kBool,          // A filter may give its name alone: `stopped` is `stopped = true`.
  kAny,           // As the row has it: a parameter's value.
};

// What a row holds in a column. Empty: nothing.
using Cell = std::variant<std::monostate, bool, double, std::string, absl::Time>;

// One column, or, where the name ends with a point, a family of them: `read` gets what follows the point.
template <typename Row>
struct Column {
  std::string_view name;
  ColumnType type;
  Cell (*read)(const Row& row, std::string_view key);
};

std::span<const Column<Study>> StudyColumns();
std::span<const Column<Trial>> TrialColumns();

// The type of a column, if there is such a column; what to say of one that there is not.
struct ColumnSet {
  std::optional<ColumnType> (*type_of)(std::string_view path);
  std::string (*known)();  // "name, state, …".
};

template <typename Row>
const Column<Row>* FindColumn(std::span<const Column<Row>> columns, std::string_view path) {
  for (const auto& column : columns) {
    const bool family = column.name.ends_with('.');
    const bool named = path.size() > column.name.size() && path.starts_with(column.name);
    if (family ? named : path == column.name) return &column;
  }
  return nullptr;
}

// REQUIRES: the column exists.
template <typename Row>
Cell ReadCell(std::span<const Column<Row>> columns, const Row& row, std::string_view path) {
  const auto* column = FindColumn(columns, path);
  return column->read(row, path.substr(column->name.size()));
}

const ColumnSet& StudyColumnSet();
const ColumnSet& TrialColumnSet();

}  // namespace vernier::wire
