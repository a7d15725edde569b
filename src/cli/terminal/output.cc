// All answers pass through Output, so that every command has every format, and the format alone decides what is
// printed. Output is flushed after each answer, as readers of a pipe may wait for it. JSON replaces invalid UTF-8,
// since programs print any bytes and json would throw.

#include "src/cli/terminal/output.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "fmt/format.h"
#include "src/codec/study_file.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, Format>, 6> kFormats = {{{"table", Format::kTable},
                                                                          {"wide", Format::kWide},
                                                                          {"json", Format::kJson},
                                                                          {"jsonl", Format::kJsonl},
                                                                          {"csv", Format::kCsv},
                                                                          {"yaml", Format::kYaml}}};

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    line += QuoteCsv(fields[i]);
  }
  line += '\n';
  return line;
}

// Lists of objects have no place in a flat row, and are left out.
void FlattenInto(const ordered_json& object, const std::string& prefix, ordered_json& flat) {
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix.empty() ? key : fmt::format("{}.{}", prefix, key);
    if (value.is_object()) {
      FlattenInto(value, path, flat);
    } else if (!value.is_array()) {
      flat[path] = value;
    } else if (std::none_of(value.begin(), value.end(), [](const ordered_json& element) {
                 return element.is_structured();
               })) {
      // A list of plain values is one field, separated by blanks.
      std::string joined;
      for (const ordered_json& element : value) {
        if (!joined.empty()) joined += ' ';
        joined += PlainText(element);
      }
      flat[path] = joined;
    }
  }
}

ordered_json FlattenAll(const ordered_json& items) {
  ordered_json rows = ordered_json::array();
  for (const ordered_json& item : items) rows.push_back(Flatten(item));
  return rows;
}

std::vector<std::string> CsvColumns(const ordered_json& rows) {
  std::vector<std::string> columns;
  for (const ordered_json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      // Columns in the order in which they first occur: rows may have different ones.
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
    }
  }
  return columns;
}

}  // namespace

std::string QuoteCsv(const std::string& field) {
  // RFC 4180: fields with separators, quotes or line ends are quoted, and quotes doubled.
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::optional<Format> ParseFormat(std::string_view name) {
  for (const auto& [known, format] : kFormats) {
    if (known == name) return format;
  }
  return std::nullopt;
}

void Output::List(const Table& table, const ordered_json& items, const ordered_json& rows) {
  std::ostream& out = console_.out;
  switch (options_.format) {
    case Format::kTable:
    case Format::kWide:
      // Cut only for people at a terminal: what is piped into a file should be whole.
      for (const std::string& line : table.Lines({.width = console_.width,
                                     .headers = options_.headers,
                                     .color = console_.color,
                                     .cut = console_.is_terminal && !is_wide()})) {
        out << line << '\n';
      }
      break;
    case Format::kJson:
      out << ToJsonText(items) << '\n';
      break;
    case Format::kJsonl:
      for (const ordered_json& item : items) out << ToJsonLine(item) << '\n';
      break;
    case Format::kCsv:
      out << ToCsv(rows, options_.headers);
      break;
    case Format::kYaml:
      out << codec::JsonToYaml(items);
      break;
  }
  out.flush();
}

void Output::List(const Table& table, const ordered_json& items) {
  // Only CSV needs flat rows; making them costs a copy.
  List(table, items, options_.format == Format::kCsv ? FlattenAll(items) : ordered_json::array());
}

void Output::Item(std::string_view text, const ordered_json& item) {
  std::ostream& out = console_.out;
  switch (options_.format) {
    case Format::kTable:
    case Format::kWide:
      out << text;
      break;
    case Format::kJson:
      out << ToJsonText(item) << '\n';
      break;
    case Format::kJsonl:
      out << ToJsonLine(item) << '\n';
      break;
    case Format::kCsv:
      out << ToCsv(ordered_json::array({Flatten(item)}), options_.headers);
      break;
    case Format::kYaml:
      out << codec::JsonToYaml(item);
      break;
  }
  out.flush();
}

void Output::Say(std::string_view sentence) {
  if (is_table()) console_.out << sentence << std::endl;
}

void Output::StreamItem(std::string_view text, const ordered_json& item) {
  std::ostream& out = console_.out;
  switch (options_.format) {
    case Format::kTable:
    case Format::kWide:
      out << text << '\n';
      break;
    case Format::kJson:
    case Format::kJsonl:
      // A stream has no end at which a list could be closed, so JSON is written line by line.
      out << ToJsonLine(item) << '\n';
      break;
    case Format::kCsv:
      // Each item alone: a common header cannot be known in advance.
      out << ToCsv(ordered_json::array({Flatten(item)}), false);
      break;
    case Format::kYaml:
      out << "---\n" << codec::JsonToYaml(item);
      break;
  }
  out.flush();
}

ordered_json Flatten(const ordered_json& object) {
  ordered_json flat = ordered_json::object();
  FlattenInto(object, "", flat);
  return flat;
}

std::string ToCsv(const ordered_json& rows, bool headers) {
  const std::vector<std::string> columns = CsvColumns(rows);
  std::string text;
  if (headers && !columns.empty()) text += CsvLine(columns);
  for (const ordered_json& row : rows) {
    std::vector<std::string> fields;
    for (const std::string& column : columns) {
      const auto field = row.find(column);
      fields.push_back(field == row.end() ? "" : PlainText(*field));
    }
    text += CsvLine(fields);
  }
  return text;
}

std::string PlainText(const ordered_json& value) {
  // An empty field, not the word null.
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return ToJsonLine(value);
}

std::string ToJsonLine(const ordered_json& item) {
  return item.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string ToJsonText(const ordered_json& item) {
  return item.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace vernier::cli
