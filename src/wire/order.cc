#include "src/wire/order.h"

#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "src/core/limit_checks.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::wire {
namespace {

bool HasNoPlace(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return true;
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr && std::isnan(*number);
}

// Below 0: `a` first, above: `b` first.
int Compare(const Cell& a, const Cell& b, bool descending) {
  const bool a_last = HasNoPlace(a);
  const bool b_last = HasNoPlace(b);
  if (a_last || b_last) return static_cast<int>(a_last) - static_cast<int>(b_last);
  const int ascending = a < b ? -1 : b < a ? 1 : 0;
  return descending ? -ascending : ascending;
}

absl::StatusOr<Order::Term> ParseTerm(const std::string& text, const ColumnSet& columns) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.empty() || words.size() > 2) {
    return FieldError("order_by",
                      fmt::format("expected a column and perhaps asc or desc, got '{}'", text));
  }
  if (!columns.type_of(words[0]).has_value()) {
    return FieldError("order_by",
                      fmt::format("unknown column '{}', known are {}", words[0], columns.known()));
  }
  if (words.size() == 2 && words[1] != "asc" && words[1] != "desc") {
    return FieldError(
        "order_by",
        fmt::format("'{}' must be followed by asc or desc, got '{}'", words[0], words[1]));
  }
  return Order::Term{.column = words[0], .descending = words.size() == 2 && words[1] == "desc"};
}

}  // namespace

absl::StatusOr<Order> Order::Parse(std::string_view text, const ColumnSet& columns) {
  VERNIER_RETURN_IF_ERROR(CheckLength("order_by", text, limits::kOrder));
  Order order;
  if (text.find_first_not_of(" \t") == std::string_view::npos) return order;
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), ',');
  for (const auto& part : parts) {
    VERNIER_ASSIGN_OR_RETURN(Term term, ParseTerm(part, columns));
    order.terms_.push_back(std::move(term));
  }
  return order;
}

bool Order::Before(const std::vector<Cell>& a, const std::vector<Cell>& b) const {
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const int order = Compare(a[i], b[i], terms_[i].descending);
    if (order != 0) return order < 0;
  }
  return false;
}

}  // namespace vernier::wire
