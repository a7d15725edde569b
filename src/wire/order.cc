#include "src/wire/order.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "src/core/limit_checks.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::wire {
namespace {

// Longer text is cut, so that the memory of a ranking is bounded; such rows are then in the order of their numbers.
constexpr std::size_t kKeyText = 128;
// Above every kind of cell in either direction: kinds are small, and small ones inverted stay below it.
constexpr char kNoPlace = '\xFF';

bool HasNoPlace(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return true;
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr && std::isnan(*number);
}

// The highest byte first, so that bytes compare as numbers do.
void Append(std::uint64_t word, std::string& key) {
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(word >> shift));
}

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// Appends bytes that compare as the cells do.
struct KeyWriter {
  std::string& key;

  void operator()(std::monostate) const {}
  void operator()(bool cell) const { key.push_back(cell ? '\1' : '\0'); }
  // 0 and -0 are equal and need equal bytes.
  void operator()(double cell) const {
    const auto bits = std::bit_cast<std::uint64_t>(cell == 0 ? 0.0 : cell);
    // Positive numbers get the sign bit set, so that they come after negative ones. Of negative ones all bits are
    // inverted, as the one with the greater magnitude comes first.
    Append((bits & kSignBit) != 0 ? ~bits : bits | kSignBit, key);
  }
  void operator()(absl::Time cell) const {
    // As signed numbers compare: the sign bit inverted.
    Append(static_cast<std::uint64_t>(absl::ToUnixNanos(cell)) ^ kSignBit, key);
  }
  // The end is below every character, and 0 inside is above the end.
  void operator()(const std::string& cell) const {
    for (const char c : std::string_view(cell).substr(0, kKeyText)) {
      key.push_back(c);
      if (c == '\0') key.push_back('\1');
    }
    key.append(2, '\0');
  }
};

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

std::string Order::Key(const std::function<Cell(std::string_view column)>& read) const {
  std::string key;
  for (const Term& term : terms_) {
    const Cell cell = read(term.column);
    // Last in both directions, so it is not inverted.
    if (HasNoPlace(cell)) {
      key.push_back(kNoPlace);
      continue;
    }
    const std::size_t begin = key.size();
    key.push_back(static_cast<char>(cell.index()));  // Values of one kind stand beside each other.
    std::visit(KeyWriter{key}, cell);
    if (!term.descending) continue;
    // Inverting the bytes of the term turns its order around and leaves that of the other terms. No part's bytes are
    // the beginning of another's, so that the lengths do not matter.
    for (std::size_t i = begin; i < key.size(); ++i) key[i] = static_cast<char>(~key[i]);
  }
  return key;
}

}  // namespace vernier::wire
