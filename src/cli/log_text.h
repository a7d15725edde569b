#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "src/cli/terminal/text.h"
#include "vernier/v1/study_service.pb.h"

// Lines that replicas printed, for people and for programs.
namespace vernier::cli {

// The lines to show of a log line: its message, which may have several, or its text if it is not JSON.
std::vector<std::string_view> MessageLines(const v1::LogLine& line);

// The line as a terminal would finally show it, after backspaces have overwritten earlier text. Printable.
std::string ShownText(std::string_view line);

// "WARNING".
std::string_view SeverityText(const v1::LogLine& line);
Style SeverityStyle(const v1::LogLine& line);

// The line's fields, with the object in `fields_json` as `fields`.
nlohmann::ordered_json LogLineToJson(const v1::LogLine& line);

}  // namespace vernier::cli
