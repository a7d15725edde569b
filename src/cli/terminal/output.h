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

// Where a command writes, and what that can show.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool is_terminal = false;  // Lines written can be drawn again.
  int width = 80;
  int height = 24;
  bool color = false;
  bool unicode = true;
};

// How a command's answer is wanted.
struct OutputOptions {
  Format format = Format::kTable;
  bool headers = true;  // Of tables and CSV.
};

// The answers of a command: the same facts as a table for people and as JSON for programs.
class Output {
 public:
  Output(Console& console, OutputOptions options) : console_(console), options_(options) {}

  Console& console() { return console_; }
  Format format() const { return options_.format; }
  // For a command that has flags of its own for it.
  void set_options(OutputOptions options) { options_ = options; }
  const OutputOptions& options() const { return options_; }
  // For people, in columns.
  bool is_table() const { return options_.format == Format::kTable || is_wide(); }
  // With every column, whole.
  bool is_wide() const { return options_.format == Format::kWide; }

  // A list: table, which is cut to the width of a terminal and whole elsewhere, JSON array, one JSON object a line, CSV rows, YAML sequence. CSV shows `rows`: flat objects, whose
  // keys are its columns.
  void List(const Table& table,
            const nlohmann::ordered_json& items,
            const nlohmann::ordered_json& rows);
  // As above, with the flattened items as CSV.
  void List(const Table& table, const nlohmann::ordered_json& items);
  // One thing: `text` for people, which may span lines; otherwise the object.
  void Item(std::string_view text, const nlohmann::ordered_json& item);
  // A sentence for people who asked for a table; nothing for programs.
  void Say(std::string_view sentence);
  // One element of an endless list: a line in every format but JSON's array, which cannot be ended.
  void StreamItem(std::string_view text, const nlohmann::ordered_json& item);

 private:
  Console& console_;
  OutputOptions options_;
};

// Nested objects as one flat object: {"a": {"b": 1}} gives {"a.b": 1}. Lists of plain values are joined by blanks, lists
// of objects left out.
nlohmann::ordered_json Flatten(const nlohmann::ordered_json& object);

// Rows as CSV (RFC 4180, newline ends): the columns are the keys of all rows in the order in which they first occur. A
// header comes first if `headers`.
std::string ToCsv(const nlohmann::ordered_json& rows, bool headers);

// A field of CSV, quoted where it has to be.
std::string QuoteCsv(const std::string& field);

// A plain value as text: of a string its characters, of null nothing.
std::string PlainText(const nlohmann::ordered_json& value);

// JSON on one line; bytes that are no UTF-8 are replaced.
std::string ToJsonLine(const nlohmann::ordered_json& item);
// The same, indented.
std::string ToJsonText(const nlohmann::ordered_json& item);

}  // namespace vernier::cli
