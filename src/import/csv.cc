#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/core/utf8.h"
#include "src/import/tables.h"
#include "vernier/core/limits.h"

namespace vernier::imports {
namespace {

constexpr std::size_t kMostColumns = 10'000;
constexpr std::size_t kMostField = limits::kMetadataValue;

// What stands between fields: a comma, unless the header has more of another separator.
char SeparatorOf(std::string_view text) {
  std::map<char, int> counts = {{',', 0}, {';', 0}, {'\t', 0}};
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '\n') break;
    if (const auto at = counts.find(c); at != counts.end()) ++at->second;
  }
  // The comma is the first of them, so that it is taken if no other one is more frequent.
  return std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })
      ->first;
}

// Reads one field after another. RFC 4180, with line ends of either kind.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text), separator_(SeparatorOf(text)) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  bool is_done() const { return text_.empty(); }
  char separator() const { return separator_; }
  std::size_t line() const { return line_; }

  // The fields of the next row.
  absl::StatusOr<std::vector<std::string>> NextRow() {
    std::vector<std::string> row;
    const std::size_t first = line_;
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(std::string field, NextField());
      if (field.size() > kMostField) {
        return InvalidArgument(
            "line {}: a field must have at most {} bytes, got {}", first, kMostField, field.size());
      }
      row.push_back(std::move(field));
      if (row.size() > kMostColumns) {
        return InvalidArgument("line {}: must have at most {} fields", first, kMostColumns);
      }
      if (text_.empty()) return row;
      const char separator = text_.front();
      text_.remove_prefix(1);
      if (separator == '\n') {
        ++line_;
        return row;
      }
    }
  }

 private:
  // Up to the separator, which stays. Blanks around a field do not belong to it, nor does the carriage return of a line end.
  absl::StatusOr<std::string> NextField() {
    SkipBlanks();
    if (text_.starts_with('"')) return QuotedField();
    const char ends[] = {separator_, '\n'};
    const std::size_t end =
        std::min(text_.find_first_of(std::string_view(ends, sizeof(ends))), text_.size());
    std::string_view field = text_.substr(0, end);
    if (field.find('"') != field.npos) {
      return InvalidArgument("line {}: a quote stands inside of a field without quotes", line_);
    }
    text_.remove_prefix(end);
    field = field.substr(0, field.find_last_not_of(" \t\r") + 1);
    return std::string(field);
  }

  void SkipBlanks() {
    while (text_.starts_with(' ') || (separator_ != '\t' && text_.starts_with('\t'))) {
      text_.remove_prefix(1);
    }
  }

  absl::StatusOr<std::string> QuotedField() {
    const std::size_t first = line_;
    std::string field;
    text_.remove_prefix(1);
    while (true) {
      const std::size_t quote = text_.find('"');
      if (quote == text_.npos) return InvalidArgument("line {}: a quote is not closed", first);
      for (const char c : text_.substr(0, quote)) line_ += c == '\n' ? 1 : 0;
      field += text_.substr(0, quote);
      text_.remove_prefix(quote + 1);
      if (!text_.starts_with('"')) break;
      field += '"';
      text_.remove_prefix(1);
    }
    SkipBlanks();
    if (text_.starts_with("\r\n")) text_.remove_prefix(1);
    if (text_.empty() || text_.front() == separator_ || text_.front() == '\n') return field;
    return InvalidArgument("line {}: text follows a closing quote", line_);
  }

  std::string_view text_;
  const char separator_;
  std::size_t line_ = 1;
};

absl::Status CheckHeader(const std::vector<std::string>& columns) {
  std::set<std::string> seen;
  for (const std::string& column : columns) {
    if (!IsPrintableUtf8(column))
      return InvalidArgument("line 1: a column's name is not printable text");
    if (!seen.insert(column).second) {
      return InvalidArgument("line 1: there are two columns '{}'", column);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Table> ParseCsv(std::string_view text) {
  if (text.find('\0') != text.npos || ToValidUtf8(text) != text) {
    return InvalidArgument("is not UTF-8 text");
  }
  Fields fields(text);
  if (fields.is_done()) return InvalidArgument("is empty");
  Table table = {.separator = fields.separator()};
  VERNIER_ASSIGN_OR_RETURN(table.columns, fields.NextRow());
  VERNIER_RETURN_IF_ERROR(CheckHeader(table.columns));
  while (!fields.is_done()) {
    const std::size_t line = fields.line();
    VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> row, fields.NextRow());
    if (row.size() == 1 && row.front().empty() && table.columns.size() > 1) continue;
    if (row.size() != table.columns.size()) {
      return InvalidArgument("line {}: must have {} fields, as the header, got {}",
                             line,
                             table.columns.size(),
                             row.size());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace vernier::imports
