#include "src/base/byte_size.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "fmt/format.h"

namespace vernier::base {

std::string FormatBytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  if (unit == 0 || amount >= 100) return fmt::format("{:.0f} {}", amount, kUnits[unit]);
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace vernier::base
