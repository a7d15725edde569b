#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace vernier::metrics {

// A JSON object in a line of output.
struct JsonLine {
  // Numbers by their dotted path: {"val": {"loss": 0.5}} has val.loss. Text that is a number counts, so that a writer may
  // say "nan".
  std::map<std::string, double> numbers;
  // The whole number under epoch, step, global_step or iteration, in that order.
  std::optional<std::int64_t> step;
};

// The object that the line is, or that stands at its end behind a logger's head ("INFO:root:{…}"). NaN and infinities as
// Python writes them are taken. Nothing: there is none.
std::optional<JsonLine> ParseJsonLine(std::string_view line);

}  // namespace vernier::metrics
