#include "src/metrics/json_line.h"

#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "src/metrics/number.h"

namespace vernier::metrics {
namespace {

using nlohmann::json;

// Depth and number of values that are read. Choices: above any line of metrics, and a bound on the work for one line.
constexpr int kDeepest = 32;
constexpr std::size_t kMostNumbers = 1000;

// Parses JSON; null if it is malformed or too deep.
json Parse(std::string_view text) {
  bool too_deep = false;
  json parsed = json::parse(
      text,
      [&](int depth, json::parse_event_t, json&) {
        too_deep |= depth > kDeepest;
        return depth <= kDeepest;
      },
      /*allow_exceptions=*/false);
  return too_deep ? json() : parsed;
}

// Puts NaN, Infinity and -Infinity into quotes. Python's json module writes them as words, which JSON does not have.
std::string QuoteSpecials(std::string_view text) {
  std::string quoted;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (!in_text) {
      std::string_view special;
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (rest.starts_with(word)) special = word;
      }
      if (!special.empty()) {
        quoted.append("\"").append(special).append("\"");
        i += special.size();
        continue;
      }
    }
    if (rest.front() == '"') in_text = !in_text;
    // An escaped character, copied whole so that an escaped quote does not end the text.
    if (rest.front() == '\\' && rest.size() > 1) quoted.push_back(text[i++]);
    quoted.push_back(text[i++]);
  }
  return quoted;
}

void Flatten(const json& value, const std::string& path, std::map<std::string, double>& numbers) {
  if (numbers.size() >= kMostNumbers) return;
  if (value.is_number()) {
    numbers.emplace(path, value.get<double>());
  } else if (value.is_string()) {
    if (const auto number = ParseNumber(value.get_ref<const std::string&>())) {
      numbers.emplace(path, *number);
    }
  } else if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      Flatten(child, path.empty() ? key : absl::StrCat(path, ".", key), numbers);
    }
  }
}

std::optional<std::int64_t> StepAmong(const std::map<std::string, double>& numbers) {
  for (const char* key : {"epoch", "step", "global_step", "iteration"}) {
    const auto found = numbers.find(key);
    // About 2^53: beyond it a double is no exact step.
    constexpr double kMost = 9e15;
    if (found == numbers.end() || !(std::abs(found->second) < kMost)) continue;
    if (found->second == std::floor(found->second)) {
      return static_cast<std::int64_t>(found->second);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<JsonLine> ParseJsonLine(std::string_view line) {
  const std::size_t begin = line.find('{');
  const std::size_t end = line.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin ||
      line.find_first_not_of(" \t", end + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view text = line.substr(begin, end - begin + 1);
  json parsed = Parse(text);
  // Parsed a second time only if needed: most lines have no such words.
  if (!parsed.is_object() && (text.find("NaN") != std::string_view::npos ||
                              text.find("Infinity") != std::string_view::npos)) {
    parsed = Parse(QuoteSpecials(text));
  }
  if (!parsed.is_object()) return std::nullopt;
  JsonLine result;
  Flatten(parsed, "", result.numbers);
  result.step = StepAmong(result.numbers);
  return result;
}

}  // namespace vernier::metrics
