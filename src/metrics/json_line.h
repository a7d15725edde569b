#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace vernier::metrics {

// A JSON object in a line of output.
struct JsonLine {
  // Numbers by dotted path: {"val": {"loss": 0.5}} has val.loss. Text that holds a number counts, so that a program may
  // write "nan".
  std::map<std::string, double> numbers;
  // The whole number under epoch, step, global_step or iteration, in that order.
  std::optional<std::int64_t> step;
};

// Parses a line that is a JSON object, or ends with one after a logger's head ("INFO:root:{…}"). NaN and infinities are
// accepted as Python writes them. Nothing: there is no object.
std::optional<JsonLine> ParseJsonLine(std::string_view line);

}  // namespace vernier::metrics
