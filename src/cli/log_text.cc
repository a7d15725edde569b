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

}  // namespace

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
