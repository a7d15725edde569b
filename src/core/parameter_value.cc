#include <type_traits>

#include "fmt/format.h"
#include "vernier/core/space.h"

namespace vernier {

std::string FormatValue(const ParameterValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
          return held;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::string FormatPoint(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, FormatValue(value));
  }
  return text;
}

}  // namespace vernier
