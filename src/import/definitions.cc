#include "src/import/definitions.h"

#include <algorithm>
#include <optional>

#include "fmt/format.h"

namespace vernier::imports {

Json ListedDomain(const Json& values) {
  Json choices = Json::array();
  const bool is_numeric = std::ranges::all_of(values, [](const Json& v) { return v.is_number(); });
  const bool is_ascending = std::ranges::is_sorted(values) &&
                            std::adjacent_find(values.begin(), values.end()) == values.end();
  if (is_numeric && is_ascending) return {{"discrete", values}};
  const bool is_bool = values.size() == 2 &&
                       std::ranges::all_of(values, [](const Json& v) { return v.is_boolean(); });
  if (is_bool && values[0] != values[1]) return {{"bool", Json::object()}};
  for (const Json& value : values) choices.push_back(JsonOf(ValueOf(value)));
  return {{"categorical", choices}};
}

void NoteLeftOut(const Json& mapping,
                 std::string_view path,
                 std::initializer_list<std::string_view> known,
                 SourceStudy& out) {
  if (!mapping.is_object()) return;
  for (const auto& [key, value] : mapping.items()) {
    if (value.is_null() || std::ranges::find(known, key) != known.end()) continue;
    out.Note(fmt::format("{}{}{}: left out", path, path.empty() ? "" : ".", key));
  }
}

Json NumberIn(const Json& json) {
  if (json.is_number()) return json;
  if (!json.is_string()) return Json();
  const ParameterValue value = ValueOfText(json.get<std::string>());
  return NumberOf(value).has_value() ? JsonOf(value) : Json();
}

}  // namespace vernier::imports
