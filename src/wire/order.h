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
  // Whether a row with the cells `a` comes before one with `b`; one cell for each term.
  bool Before(const std::vector<Cell>& a, const std::vector<Cell>& b) const;

 private:
  std::vector<Term> terms_;
};

}  // namespace vernier::wire
