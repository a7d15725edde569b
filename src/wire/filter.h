#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/wire/columns.h"

// Filters in the language of AIP-160, of which this is the part that lists need:
//
//   state = COMPLETED AND metrics.accuracy > 0.9
//   parameters.optimizer = "adam" OR NOT create_time >= "2026-11-21T00:00:00Z"
//   message : "out of memory"        text contains
//   name : census*                   text begins with
//   metrics.loss : *                 has a value
//   stopped AND NOT state = STOPPING a column that is true or false stands alone, or is compared
//
// Terms beside each other are joined by AND; as in AIP-160, OR binds tighter than AND. Text is compared as it is but for
// `:`, which ignores case. A comparison of a row that has no value there does not hold.
namespace vernier::wire {

enum class Comparator { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kHas };

struct FilterNode {
  enum class Kind { kAll, kAny, kNot, kCompare } kind = Kind::kAll;
  std::vector<FilterNode> children;  // Of kAll, kAny and, one, kNot. kAll of nothing holds.
  // Of kCompare:
  std::string column;
  Comparator comparator = Comparator::kEqual;
  std::string text;                // As written. For kHas, "*" asks for any value.
  std::optional<double> number;    // The text as a number, if it is one.
  std::optional<absl::Time> time;  // The text as a time, for columns of times.
};

// What `:` asks of a text: that it contains what is written, or, before a `*` at the end, begins with it; in any case.
bool HasText(std::string_view cell, std::string_view written);

class Filter {
 public:
  using Reader = std::function<Cell(std::string_view column)>;

  // Empty text: everything matches.
  // InvalidArgument: a FieldError at "filter" that names the column or the place.
  static absl::StatusOr<Filter> Parse(std::string_view text, const ColumnSet& columns);

  // `read` gives the row's cells, of columns that Parse knew.
  bool Matches(const Reader& read) const;
  // Texts of which the column must equal one in every row that matches. Nothing: the filter does not say.
  std::optional<std::vector<std::string>> Alternatives(std::string_view column) const;
  // Where the column's number must be in every row that matches, both ends included. Nothing: the filter does not say.
  struct Range {
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
  };
  std::optional<Range> RangeOf(std::string_view column) const;

 private:
  explicit Filter(FilterNode root) : root_(std::move(root)) {}
  FilterNode root_;
};

}  // namespace vernier::wire
