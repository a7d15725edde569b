#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "src/cli/terminal/table.h"

namespace vernier::cli {

enum class Format { kTable, kWide, kJson, kJsonl, kCsv, kYaml };
// "table", "wide", "json", "jsonl", "csv", "yaml".
std::optional<Format> ParseFormat(std::string_view name);

// Where a command writes, and what it can display.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool is_terminal = false;  // Lines can be redrawn.
  int width = 80;
  int height = 24;
  bool color = false;
  bool unicode = true;
};

// The wanted form of an answer.
struct OutputOptions {
  Format format = Format::kTable;
  bool headers = true;  // Of tables and CSV.
};

// Prints answers of a command: the same facts as a table for people and as data for programs.
class Output {
 public:
  Output(Console& console, OutputOptions options) : console_(console), options_(options) {}

  Console& console() { return console_; }
  Format format() const { return options_.format; }
  // For commands with format flags of their own.
  void set_options(OutputOptions options) { options_ = options; }
  const OutputOptions& options() const { return options_; }
  // Whether people read it, as table or wide.
  bool is_table() const { return options_.format == Format::kTable || is_wide(); }
  // Whether all columns are shown, uncut.
  bool is_wide() const { return options_.format == Format::kWide; }

  // Prints a list: a table (cut to the width of a terminal, whole elsewhere), a JSON array, one JSON object a line, a
  // YAML sequence, or CSV. CSV prints `rows`: flat objects whose keys are the columns.
  void List(const Table& table,
            const nlohmann::ordered_json& items,
            const nlohmann::ordered_json& rows);
  // As above; CSV prints the flattened items.
  void List(const Table& table, const nlohmann::ordered_json& items);
  // Prints one thing: `text`, which may have several lines, for people; otherwise the object.
  void Item(std::string_view text, const nlohmann::ordered_json& item);
  // Prints a sentence if people read the output; programs get nothing.
  void Say(std::string_view sentence);
  // Prints one element of a list without a known end. With -o json, too, it is one object a line, since an array could
  // not be closed.
  void StreamItem(std::string_view text, const nlohmann::ordered_json& item);

 private:
  Console& console_;
  OutputOptions options_;
};

// Flattens nested objects: {"a": {"b": 1}} becomes {"a.b": 1}. Lists of plain values are joined by blanks; lists of
// objects are left out.
nlohmann::ordered_json Flatten(const nlohmann::ordered_json& object);

// Rows as CSV (RFC 4180, but with "\n"). Columns are the keys of all rows in order of first occurrence. Begins with a
// header if `headers`.
std::string ToCsv(const nlohmann::ordered_json& rows, bool headers);

// A CSV field, quoted if necessary.
std::string QuoteCsv(const std::string& field);

// A plain value as text: a string without quotes, null as an empty text.
std::string PlainText(const nlohmann::ordered_json& value);

// JSON on one line; invalid UTF-8 is replaced.
std::string ToJsonLine(const nlohmann::ordered_json& item);
// The same, indented.
std::string ToJsonText(const nlohmann::ordered_json& item);

}  // namespace vernier::cli
