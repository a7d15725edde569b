#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/wire/columns.h"

namespace vernier::wire {

// The order of a list: "metrics.accuracy desc, number". Rows that have no value, or NaN, come last either way.
class Order {
 public:
  struct Term {
    std::string column;
    bool descending = false;
  };

  // Empty text: no terms, the order of creation.
  // InvalidArgument: a FieldError at "order_by" that names the column.
  static absl::StatusOr<Order> Parse(std::string_view text, const ColumnSet& columns);

  bool empty() const { return terms_.empty(); }
  const std::vector<Term>& terms() const { return terms_; }
  // Where a row stands whose cells `read` gives: before those with a greater key, compared byte by byte. Of a text the first
  // 128 bytes count, so that a key has at most 260 for each term.
  std::string Key(const std::function<Cell(std::string_view column)>& read) const;

 private:
  std::vector<Term> terms_;
};

}  // namespace vernier::wire
