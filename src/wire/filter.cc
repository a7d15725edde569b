#include "src/wire/filter.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "src/wire/filter_parser.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

template <typename T>
bool Holds(Comparator comparator, const T& cell, const T& value) {
  switch (comparator) {
    case Comparator::kEqual:
    // For what is not text, `:` means equality.
    case Comparator::kHas:
      return cell == value;
    case Comparator::kNotEqual:
      return cell != value;
    case Comparator::kLess:
      return cell < value;
    case Comparator::kLessEqual:
      return cell <= value;
    case Comparator::kGreater:
      return cell > value;
    case Comparator::kGreaterEqual:
      return cell >= value;
  }
  return false;
}

// Compares a cell with the value written in the filter, read as what the cell is.
struct CellComparison {
  const FilterNode& node;

  // No value: no comparison holds, not even `!=`.
  bool operator()(std::monostate) const { return false; }
  bool operator()(bool cell) const {
    return Holds(node.comparator, std::string(cell ? "true" : "false"), node.text);
  }
  bool operator()(double cell) const {
    // A value of another kind than the cell's is different from it, and nothing else.
    if (!node.number.has_value()) return node.comparator == Comparator::kNotEqual;
    return Holds(node.comparator, cell, *node.number);
  }
  bool operator()(absl::Time cell) const {
    return node.time.has_value() && Holds(node.comparator, cell, *node.time);
  }
  bool operator()(const std::string& cell) const {
    if (node.comparator != Comparator::kHas) return Holds(node.comparator, cell, node.text);
    return HasText(cell, node.text);
  }
};

bool Compare(const FilterNode& node, const Cell& cell) {
  // Any value at all, an empty text included.
  if (node.comparator == Comparator::kHas && node.text == "*") {
    return !std::holds_alternative<std::monostate>(cell);
  }
  return std::visit(CellComparison{node}, cell);
}

// The texts of which one is necessary for a match. They may be more than can match, never fewer.
std::optional<std::vector<std::string>> AlternativesOf(const FilterNode& node,
                                                       std::string_view column) {
  if (node.kind == FilterNode::Kind::kCompare) {
    if (node.column != column || node.comparator != Comparator::kEqual) return std::nullopt;
    return std::vector<std::string>{node.text};
  }
  // What a negated comparison requires of the column is not a list of texts.
  if (node.kind == FilterNode::Kind::kNot) return std::nullopt;
  std::vector<std::string> all;
  for (const FilterNode& child : node.children) {
    // Of an AND, each part is necessary, so any part that names texts will do; the first is taken.
    auto of_child = AlternativesOf(child, column);
    if (node.kind == FilterNode::Kind::kAll && of_child.has_value()) return of_child;
    if (node.kind == FilterNode::Kind::kAll) continue;
    // Of an OR, every part must name texts: a part that does not could match any.
    if (!of_child.has_value()) return std::nullopt;
    all.insert(all.end(), of_child->begin(), of_child->end());
  }
  if (node.kind == FilterNode::Kind::kAll) return std::nullopt;
  return all;
}

// NaN compares with nothing, so that it bounds nothing.
std::optional<Filter::Range> RangeOfComparison(const FilterNode& node, std::string_view column) {
  if (node.column != column || !node.number.has_value() || std::isnan(*node.number)) {
    return std::nullopt;
  }
  switch (node.comparator) {
    case Comparator::kEqual:
      return Filter::Range{.least = *node.number, .most = *node.number};
    case Comparator::kLess:
    // `<` is given as `<=`: the range may hold more than can match, never less.
    case Comparator::kLessEqual:
      return Filter::Range{.most = *node.number};
    case Comparator::kGreater:
    case Comparator::kGreaterEqual:
      return Filter::Range{.least = *node.number};
    case Comparator::kNotEqual:
    case Comparator::kHas:
      break;
  }
  return std::nullopt;
}

std::optional<Filter::Range> RangeOfNode(const FilterNode& node, std::string_view column) {
  if (node.kind == FilterNode::Kind::kCompare) return RangeOfComparison(node, column);
  // Of an OR only a range that covers every part would do; none is computed.
  if (node.kind != FilterNode::Kind::kAll) return std::nullopt;
  std::optional<Filter::Range> all;
  for (const FilterNode& child : node.children) {
    const std::optional<Filter::Range> of_child = RangeOfNode(child, column);
    if (!of_child.has_value()) continue;
    // The ranges of several parts are cut with each other. An empty range is fine: nothing matches.
    if (!all.has_value()) all.emplace();
    all->least = std::max(all->least, of_child->least);
    all->most = std::min(all->most, of_child->most);
  }
  return all;
}

bool Evaluate(const FilterNode& node, const Filter::Reader& read) {
  switch (node.kind) {
    case FilterNode::Kind::kAll:
      for (const auto& child : node.children) {
        if (!Evaluate(child, read)) return false;
      }
      return true;
    case FilterNode::Kind::kAny:
      for (const auto& child : node.children) {
        if (Evaluate(child, read)) return true;
      }
      return false;
    case FilterNode::Kind::kNot:
      // Also where the comparison failed for want of a value: such a row matches.
      return !Evaluate(node.children.front(), read);
    case FilterNode::Kind::kCompare:
      return Compare(node, read(node.column));
  }
  return false;
}

}  // namespace

bool HasText(std::string_view cell, std::string_view written) {
  const bool is_prefix = written.ends_with('*');
  if (is_prefix) written.remove_suffix(1);
  // ASCII only: other letters are compared as they are.
  const std::string text = absl::AsciiStrToLower(std::string(cell));
  const std::string part = absl::AsciiStrToLower(std::string(written));
  return is_prefix ? text.starts_with(part) : absl::StrContains(text, part);
}

absl::StatusOr<Filter> Filter::Parse(std::string_view text, const ColumnSet& columns) {
  VERNIER_ASSIGN_OR_RETURN(FilterNode root, ParseFilter(text, columns));
  return Filter(std::move(root));
}

std::optional<std::vector<std::string>> Filter::Alternatives(std::string_view column) const {
  return AlternativesOf(root_, column);
}

std::optional<Filter::Range> Filter::RangeOf(std::string_view column) const {
  return RangeOfNode(root_, column);
}

bool Filter::Matches(const Reader& read) const { return Evaluate(root_, read); }

}  // namespace vernier::wire
