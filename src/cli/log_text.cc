#include "src/cli/log_text.h"

#include <algorithm>
#include <utility>

#include "src/cli/terminal/proto_json.h"
#include "src/wire/enum_proto.h"

namespace vernier::cli {
namespace {

Severity SeverityOf(const v1::LogLine& line) {
  return wire::Decode(line.severity()).value_or(Severity::kInfo);
}

// The text that remains visible: each backspace moves the cursor back by one, and later text overwrites. Escape
// sequences do not move the cursor and are left out. Progress bars of Keras and others print this way, and would
// otherwise show as thousands of characters.
std::string Overwritten(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t cursor = 0;
  while (!line.empty()) {
    std::size_t size = 1;
    if (line.front() == '\b') {
      cursor -= cursor > 0 ? 1 : 0;
    } else if (line.starts_with("\x1b[")) {
      const std::size_t end = line.find_first_not_of("0123456789;?", 2);
      size = std::min(line.size(), end == std::string_view::npos ? line.size() : end + 1);
    } else {
      // Continuation bytes of UTF-8 belong to the same character.
      while (size < line.size() && (static_cast<unsigned char>(line[size]) & 0xC0U) == 0x80U)
        ++size;
      if (cursor == cells.size()) cells.emplace_back();
      cells[cursor++] = line.substr(0, size);
    }
    line.remove_prefix(size);
  }
  std::string text;
  for (const std::string_view cell : cells) text += cell;
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

std::string ShownText(std::string_view line) {
  const bool moves_back = line.find('\b') != std::string_view::npos;
  return Printable(moves_back ? Overwritten(line) : line);
}

std::vector<std::string_view> MessageLines(const v1::LogLine& line) {
  std::string_view rest = line.has_message() ? line.message() : line.text();
  std::vector<std::string_view> lines;
  do {
    lines.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), lines.back().size() + 1));
  } while (!rest.empty());
  return lines;
}

std::string_view SeverityText(const v1::LogLine& line) { return SeverityName(SeverityOf(line)); }

Style SeverityStyle(const v1::LogLine& line) {
  const Severity severity = SeverityOf(line);
  if (severity >= Severity::kError) return Style::kRed;
  if (severity >= Severity::kWarning) return Style::kYellow;
  return severity == Severity::kDebug ? Style::kDim : Style::kPlain;
}

nlohmann::ordered_json LogLineToJson(const v1::LogLine& line) {
  nlohmann::ordered_json json = ProtoToJson(line);
  json.erase("fields_json");
  auto fields =
      nlohmann::ordered_json::parse(line.fields_json(), nullptr, /*allow_exceptions=*/false);
  if (fields.is_object()) json["fields"] = std::move(fields);
  return json;
}

}  // namespace vernier::cli
