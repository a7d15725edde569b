// The output formats of `gcloud topic formats`, in their own layouts, since scripts parse them: for example, a YAML
// list is a sequence of documents, and csv headings are in lower case.

#include "src/cli/gcloud/printer.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "src/cli/gcloud/table_printer.h"
#include "src/codec/study_file.h"

namespace vernier::gcloud {
namespace {

// The value at each key, transformed.
std::vector<Json> RowOf(const FormatSpec& format, const Json& resource, const TimeFrame& frame) {
  std::vector<Json> row;
  for (const FormatColumn& column : format.columns) {
    row.push_back(Evaluate(column.expression, resource, frame));
  }
  return row;
}

// Copies the value at the key from `source` to the same place in `target`, so that json and yaml keep the structure of
// the resource.
void Place(std::span<const KeyPart> key,
           const Json& source,
           const std::vector<Call>& calls,
           const TimeFrame& frame,
           Json& target) {
  // The key ends here: the value itself, with its functions.
  if (key.empty()) {
    target = Apply(calls, source, frame);
    return;
  }
  const auto* const index = std::get_if<std::int64_t>(&key.front());
  const auto* const name = std::get_if<std::string>(&key.front());
  if (source.is_object() && name != nullptr) {
    const auto member = FindMember(source, *name);
    if (member != source.end()) Place(key.subspan(1), *member, calls, frame, target[member.key()]);
    return;
  }
  if (!source.is_array()) return;
  // Of a slice at the end, the functions get the list as a whole.
  const bool is_slice = index == nullptr && name == nullptr;
  if (is_slice && key.size() == 1) {
    target = Apply(calls, source, frame);
    return;
  }
  if (!target.is_array()) target = Json::array();
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const auto size = static_cast<std::int64_t>(source.size());
    // The other elements stay null, and Close removes them.
    if (index != nullptr && *index != place && *index + size != place) continue;
    // A name applies to each element, and so stays part of the key.
    Place(key.subspan(name == nullptr ? 1 : 0), source[i], calls, frame, target[i]);
  }
}

// Removes the nulls that single elements of lists leave.
void Close(Json& value) {
  // From lists only: a null member of an object is one that was asked for.
  if (value.is_array()) value.erase(std::remove(value.begin(), value.end(), Json()), value.end());
  if (!value.is_structured()) return;
  for (Json& part : value) Close(part);
}

Json ProjectionOf(const FormatSpec& format, const Json& resource, const TimeFrame& frame) {
  if (format.columns.empty()) return resource;
  Json projected = Json::object();
  for (const FormatColumn& column : format.columns) {
    Place(column.expression.key, resource, column.expression.calls, frame, projected);
  }
  Close(projected);
  return projected;
}

void PrintJson(const std::vector<Json>& resources, bool is_list, std::ostream& out) {
  const Json document = is_list ? Json(resources) : resources.front();
  out << cli::ToJsonText(document) << '\n';
}

// For a list, each resource is a document.
void PrintYaml(const std::vector<Json>& resources, bool is_list, std::ostream& out) {
  for (const Json& resource : resources) {
    out << (is_list ? "---\n" : "") << codec::JsonToYaml(resource);
  }
}

// How csv and value write a field.
struct FieldStyle {
  std::string separator;
  std::string delimiter;  // Between the elements of a list.
  std::string terminator;
  bool quotes = true;

  std::string Quoted(const std::string& text) const {
    if (!quotes || text.empty()) return text;
    // Quotes are put around what could be taken for the end of a field; blanks at its ends might be stripped.
    const bool needs =
        text.find('"') != std::string::npos || text.find(delimiter) != std::string::npos ||
        text.find(separator) != std::string::npos || text.find(terminator) != std::string::npos ||
        absl::StripAsciiWhitespace(text).size() != text.size();
    return needs ? "\"" + absl::StrReplaceAll(text, {{"\"", "\"\""}}) + "\"" : text;
  }

  std::string Field(const Json& value) const {
    std::vector<std::string> parts;
    if (value.is_object()) {
      for (const auto& [key, part] : MembersOf(value)) {
        parts.push_back(Quoted(fmt::format("{}={}", key, TextOf(part))));
      }
    } else if (value.is_array()) {
      for (const Json& part : value) parts.push_back(Quoted(TextOf(part)));
    } else {
      return Quoted(TextOf(value));
    }
    return absl::StrJoin(parts, delimiter);
  }
};

void PrintFields(const FormatSpec& format,
                 const std::vector<Json>& resources,
                 const PrintOptions& options,
                 const TimeFrame& frame,
                 std::ostream& out) {
  const bool is_csv = format.name == "csv";
  const FieldStyle style = {.separator = format.Attribute("separator", is_csv ? "," : "\t"),
                            .delimiter = format.Attribute("delimiter", ";"),
                            .terminator = format.Attribute("terminator", "\n"),
                            // csv quotes unless it is told not to, value only if it is told to.
                            .quotes = is_csv ? !format.Has("no-quote") : format.Has("quote")};
  std::vector<std::string> fields;
  if (is_csv && options.headings && !format.Has("no-heading")) {
    for (const FormatColumn& column : format.columns) {
      fields.push_back(style.Quoted(absl::AsciiStrToLower(column.label)));
    }
    out << absl::StrJoin(fields, style.separator) << style.terminator;
  }
  for (const Json& resource : resources) {
    fields.clear();
    for (const Json& value : RowOf(format, resource, frame)) fields.push_back(style.Field(value));
    out << absl::StrJoin(fields, style.separator) << style.terminator;
  }
}

// " - jobId: a" with the other members below; for a projection, its values.
void PrintItems(const FormatSpec& format,
                const std::vector<Json>& resources,
                const TimeFrame& frame,
                std::ostream& out) {
  if (format.Has("title")) out << format.Attribute("title", "") << '\n';
  const std::string separator = format.Has("compact") ? " " : "\n   ";
  for (const Json& resource : resources) {
    std::vector<std::string> parts;
    if (!format.columns.empty()) {
      for (const Json& value : RowOf(format, resource, frame)) {
        if (!value.is_null()) parts.push_back(TextOf(value));
      }
    } else if (resource.is_object()) {
      for (const auto& [key, value] : MembersOf(resource)) {
        parts.push_back(fmt::format("{}: {}", key, TextOf(value)));
      }
    } else {
      parts.push_back(TextOf(resource));
    }
    out << " - " << absl::StrJoin(parts, separator) << '\n';
  }
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string Below(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

// "trials[0].trialId" and its value, sorted by name.
void FlattenInto(const Json& value, const std::string& path, Pairs& pairs) {
  if (value.is_array() && !value.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      FlattenInto(value[i], fmt::format("{}[{}]", path, i), pairs);
    }
  } else if (value.is_object() && !value.empty()) {
    for (const auto& [key, part] : MembersOf(value)) {
      FlattenInto(part, Below(path, key), pairs);
    }
  } else if (!value.is_null()) {
    // Null has no line in this format.
    pairs.emplace_back(path, TextOf(value));
  }
}

// One line: quoted if it has line ends, or blanks at its start or end.
std::string OneLine(const std::string& text) {
  const bool is_plain = text.find('\n') == std::string::npos &&
                        absl::StripAsciiWhitespace(text).size() == text.size();
  if (is_plain) return text;
  return "\"" +
         absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}, {"\t", "\\t"}}) +
         "\"";
}

void PrintFlattened(const FormatSpec& format,
                    const std::vector<Json>& resources,
                    bool is_list,
                    const TimeFrame& frame,
                    std::ostream& out) {
  const std::string separator = format.Attribute("separator", ": ");
  for (const Json& resource : resources) {
    if (is_list) out << "---\n";
    Pairs pairs;
    FlattenInto(ProjectionOf(format, resource, frame), "", pairs);
    std::size_t longest = 0;
    for (auto& [name, value] : pairs) {
      for (const FormatColumn& column : format.columns) {
        const bool is_named = KeyText(column.expression.key) == name;
        // The label of a key takes the place of its path.
        if (is_named && !column.label.empty()) name = absl::AsciiStrToLower(column.label);
      }
      longest = std::max(longest, name.size());
    }
    for (const auto& [name, value] : pairs) {
      const std::size_t pad = format.Has("no-pad") ? 0 : longest - name.size();
      out << name << separator << std::string(pad, ' ') << OneLine(value) << '\n';
    }
  }
}

// "[trainingInput]" with its plain members; objects and lists follow as sections of their own.
void PrintSection(const Json& value, const std::string& path, std::ostream& out) {
  std::map<std::string, Json> members;
  if (value.is_object()) members = MembersOf(value);
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
    members[std::to_string(i)] = value[i];
  }
  // A section that has only sections in it has no heading of its own.
  const bool has_plain = std::ranges::any_of(
      members, [](const auto& member) { return !member.second.is_structured(); });
  if (has_plain && !path.empty()) out << fmt::format("[{}]\n", path);
  for (const auto& [name, part] : members) {
    if (!part.is_structured()) out << fmt::format("{} = {}\n", name, TextOf(part));
  }
  // After the plain members: what follows a heading belongs to it.
  for (const auto& [name, part] : members) {
    if (part.is_structured()) PrintSection(part, Below(path, name), out);
  }
}

}  // namespace

void Print(const FormatSpec& format,
           const std::vector<Json>& resources,
           const PrintOptions& options,
           const TimeFrame& frame,
           cli::Console& console) {
  std::ostream& out = console.out;
  std::vector<Json> projected;
  if (format.name == "json" || format.name == "yaml" || format.name == "config") {
    for (const Json& resource : resources) {
      projected.push_back(ProjectionOf(format, resource, frame));
    }
  }
  if (format.name == "json") PrintJson(projected, options.is_list, out);
  if (format.name == "yaml") PrintYaml(projected, options.is_list, out);
  if (format.name == "config") {
    for (const Json& resource : projected) PrintSection(resource, "", out);
  }
  if (format.name == "csv" || format.name == "value") {
    PrintFields(format, resources, options, frame, out);
  }
  if (format.name == "list") PrintItems(format, resources, frame, out);
  if (format.name == "flattened") PrintFlattened(format, resources, options.is_list, frame, out);
  if (format.name == "table") {
    std::vector<std::vector<Json>> rows;
    rows.reserve(resources.size());
    for (const Json& resource : resources) rows.push_back(RowOf(format, resource, frame));
    PrintTable(format, std::move(rows), options.headings, console);
  }
  out.flush();
}

}  // namespace vernier::gcloud
