#include "src/cli/gcloud_flags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/arguments.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kFormats = {"json", "yaml", "csv", "table", "value", "none"};

bool IsKey(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-.[]").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// What stands between `open` and `close` at the beginning of `rest`, which is taken off; nothing if there is none.
std::optional<std::string> Take(char open, char close, std::string_view& rest) {
  if (!rest.starts_with(open)) return std::nullopt;
  const std::size_t end = rest.rfind(close);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string inner(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  return inner;
}

// Where "trials[0].state" is.
Json::json_pointer PlaceOf(const std::string& key) {
  return Json::json_pointer("/" + absl::StrReplaceAll(key, {{".", "/"}, {"[", "/"}, {"]", ""}}));
}

// Null: there is nothing.
Json ValueOf(const Json& object, const std::string& key) {
  try {  // A list has no names, and only a number is a place in it.
    const Json::json_pointer place = PlaceOf(key);
    return object.contains(place) ? object.at(place) : Json();
  } catch (const Json::exception&) {
    return nullptr;
  }
}

// "trainingInput.jobDir" heads its column as JOB_DIR.
std::string Heading(std::string_view key) {
  const std::size_t point = key.rfind('.');
  if (point != std::string_view::npos) key.remove_prefix(point + 1);
  std::string heading;
  for (const char c : key) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c)) && !heading.empty()) heading += '_';
    heading += absl::ascii_toupper(static_cast<unsigned char>(c));
  }
  return heading;
}

// What the keys name, where it is.
Json Project(const Json& object, const std::vector<std::string>& keys) {
  Json projected = Json::object();
  for (const std::string& key : keys) {
    Json value = ValueOf(object, key);
    if (!value.is_null()) projected[PlaceOf(key)] = std::move(value);
  }
  return projected;
}

// As a row: the values by the keys.
Json RowOf(const Json& object, const std::vector<std::string>& keys) {
  Json row = Json::object();
  for (const std::string& key : keys) row[key] = PlainText(ValueOf(object, key));
  return row;
}

void PrintValues(const std::vector<std::string>& keys, const Json& rows, std::ostream& out) {
  for (const Json& row : rows) {
    std::vector<std::string> values;
    for (const std::string& key : keys) values.push_back(PlainText(ValueOf(row, key)));
    out << fmt::format("{}\n", fmt::join(values, "\t"));
  }
  out.flush();
}

Table TableOf(const std::vector<std::string>& keys, const Json& rows) {
  std::vector<Column> columns;
  for (const std::string& key : keys) columns.push_back({.name = Heading(key), .flexible = true});
  Table table(std::move(columns));
  for (const Json& row : rows) {
    std::vector<Cell> cells;
    for (const std::string& key : keys) cells.push_back({PlainText(row[key])});
    table.AddRow(std::move(cells));
  }
  return table;
}

absl::StatusOr<std::vector<std::string>> ReadKeys(const std::string& list) {
  std::vector<std::string> keys;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(list, ','))) {
    keys.emplace_back(absl::StripAsciiWhitespace(part));
    if (IsKey(keys.back())) continue;
    return InvalidArgument(
        "--format: a key must be a name such as jobId or trainingInput.region, got '{}'",
        keys.back());
  }
  return keys;
}

}  // namespace

void AddGcloudFlags(CLI::App& command, GcloudFlags& flags) {
  command.add_option("--project", flags.project, "Accepted for compatibility; no effect");
  command.add_option(
      "--format",
      flags.format,
      "Output format: json, yaml, csv, table or none; value(jobId,state) selects keys");
  command.add_option("--verbosity", flags.verbosity, "Accepted for compatibility; no effect");
  command.add_flag("-q,--quiet", flags.quiet, "Accepted for compatibility; no effect");
}

absl::StatusOr<Projection> ParseFormatFlag(const std::string& text) {
  Projection projection;
  if (text.empty() || text == "default") return projection;
  std::string_view rest = text;
  while (!rest.empty() && absl::ascii_isalpha(static_cast<unsigned char>(rest.front()))) {
    projection.format += rest.front();
    rest.remove_prefix(1);
  }
  if (projection.format == "disable") projection.format = "none";
  if (std::ranges::find(kFormats, projection.format) == kFormats.end()) {
    return InvalidArgument(
        "--format: must be one of {}, got '{}'", fmt::join(kFormats, ", "), text);
  }
  const std::optional<std::string> attributes = Take('[', ']', rest);
  projection.headers = !attributes.has_value();
  const std::optional<std::string> keys = Take('(', ')', rest);
  if (!rest.empty() || (attributes && *attributes != "no-heading")) {
    return InvalidArgument(
        "--format: must be as csv(jobId,state) or csv[no-heading](jobId), got '{}'", text);
  }
  if (keys) {
    VERNIER_ASSIGN_OR_RETURN(projection.keys, ReadKeys(*keys));
  }
  if (projection.format == "value" && projection.keys.empty()) {
    return InvalidArgument("--format: value needs keys, as in value(jobId,state), got '{}'", text);
  }
  return projection;
}

bool PrintProjected(const Projection& projection, const Json& answer, Output& output) {
  if (projection.format.empty()) return false;
  if (projection.format == "none") return true;
  const Json items = answer.is_array() ? answer : Json::array({answer});
  if (projection.format == "value") {
    PrintValues(projection.keys, items, output.console().out);
    return true;
  }
  output.set_options({.format = ParseFormat(projection.format).value_or(Format::kTable),
                      .headers = projection.headers && output.options().headers});
  if (projection.keys.empty()) return false;
  Json projected = Json::array();
  Json rows = Json::array();
  for (const Json& item : items) {
    projected.push_back(Project(item, projection.keys));
    rows.push_back(RowOf(item, projection.keys));
  }
  const bool is_document = output.format() == Format::kJson || output.format() == Format::kYaml;
  if (is_document && !answer.is_array()) {
    output.Item("", projected[0]);
  } else {
    output.List(TableOf(projection.keys, rows), projected, rows);
  }
  return true;
}

}  // namespace vernier::cli
