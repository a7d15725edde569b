#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "vernier/core/space.h"

namespace vernier {

// Places of values in the lists of discrete and categorical parameters. A list is indexed once it is asked for: to search it
// for each value of a condition would be quadratic in the number of choices. The parameters must outlive it.
class ListedValues {
 public:
  // Nothing where the list does not have the value, and for parameters without a list.
  std::optional<std::int64_t> Find(const Parameter& parameter, const ParameterValue& value);

 private:
  using Places = std::map<ParameterValue, std::int64_t>;
  const Places& Of(const Parameter& parameter);

  std::map<std::string_view, Places> places_;  // By name of the parameter.
};

}  // namespace vernier
