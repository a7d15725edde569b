#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "vernier/core/space.h"

namespace vernier {

// Finds indices of values in the lists of discrete and categorical parameters. Indexes a list at its first use: a
// linear search for each value of a condition would be quadratic in the number of choices, of which there may be
// 100,000. The parameters must outlive it. Not thread-safe.
class ListedValues {
 public:
  // Returns the index; nullopt if the list does not have the value, or the parameter has no list.
  std::optional<std::int64_t> Find(const Parameter& parameter, const ParameterValue& value);

 private:
  using Places = std::map<ParameterValue, std::int64_t>;
  const Places& Of(const Parameter& parameter);

  std::map<std::string_view, Places> places_;  // By name of the parameter.
};

}  // namespace vernier
