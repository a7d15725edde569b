#include "src/core/listed_values.h"

#include <cmath>
#include <variant>

namespace vernier {

std::optional<std::int64_t> ListedValues::Find(const Parameter& parameter,
                                               const ParameterValue& value) {
  const auto* const number = std::get_if<double>(&value);
  // NaN has no place in the order of the map: it would seem equal to every key.
  if (number != nullptr && std::isnan(*number)) return std::nullopt;
  const Places& places = Of(parameter);
  const auto found = places.find(value);
  if (found == places.end()) return std::nullopt;
  return found->second;
}

const ListedValues::Places& ListedValues::Of(const Parameter& parameter) {
  const auto [at, is_new] = places_.try_emplace(parameter.name);
  Places& places = at->second;
  if (!is_new) return places;
  const auto add = [&places](const auto& values) {
    for (const auto& value : values) {
      places.try_emplace(value, static_cast<std::int64_t>(places.size()));
    }
  };
  if (const auto* const list = std::get_if<DiscreteDomain>(&parameter.domain)) add(list->values);
  if (const auto* const list = std::get_if<CategoricalDomain>(&parameter.domain)) add(list->values);
  return places;
}

}  // namespace vernier
