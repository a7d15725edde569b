#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/wire/columns.h"
#include "src/wire/filter.h"
#include "src/wire/order.h"
#include "vernier/core/error.h"

namespace vernier::wire {

// The rows that match the filter, in the order asked for; equals keep the order they came in.
// InvalidArgument: a FieldError at "filter" or "order_by".
template <typename Row>
absl::StatusOr<std::vector<Row>> Select(std::vector<Row> rows,
                                        std::span<const Column<Row>> columns,
                                        const ColumnSet& names,
                                        std::string_view filter_text,
                                        std::string_view order_text) {
  VERNIER_ASSIGN_OR_RETURN(const Filter filter, Filter::Parse(filter_text, names));
  VERNIER_ASSIGN_OR_RETURN(const Order order, Order::Parse(order_text, names));
  std::erase_if(rows, [&](const Row& row) {
    return !filter.Matches([&](std::string_view path) { return ReadCell(columns, row, path); });
  });
  if (order.empty()) return rows;
  std::vector<std::pair<std::string, std::size_t>> keys;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto read = [&](std::string_view path) { return ReadCell(columns, rows[i], path); };
    keys.emplace_back(order.Key(read), i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const auto& key : keys) sorted.push_back(std::move(rows[key.second]));
  return sorted;
}

inline absl::StatusOr<std::vector<Study>> SelectStudies(std::vector<Study> studies,
                                                        std::string_view filter,
                                                        std::string_view order_by) {
  return Select(std::move(studies), StudyColumns(), StudyColumnSet(), filter, order_by);
}
inline absl::StatusOr<std::vector<Trial>> SelectTrials(std::vector<Trial> trials,
                                                       std::string_view filter,
                                                       std::string_view order_by) {
  return Select(std::move(trials), TrialColumns(), TrialColumnSet(), filter, order_by);
}

}  // namespace vernier::wire
