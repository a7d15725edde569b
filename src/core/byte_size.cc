#include "src/core/byte_size.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

#include "fmt/format.h"

namespace vernier {
namespace {

// Largest first in each family, so that FormatByteSize finds the largest binary unit first.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 9> kUnits = {{
    {"TiB", std::int64_t{1} << 40},
    {"GiB", std::int64_t{1} << 30},
    {"MiB", std::int64_t{1} << 20},
    {"KiB", std::int64_t{1} << 10},
    {"TB", 1'000'000'000'000},
    {"GB", 1'000'000'000},
    {"MB", 1'000'000},
    {"KB", 1'000},
    {"B", 1},
}};

}  // namespace

std::optional<std::int64_t> ParseByteSize(std::string_view text) {
  constexpr long double kTooMany = 0x1p63L;
  // from_chars would also take a sign, infinity and NaN.
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  // On x86-64 it has 64 bits of precision, enough for every whole number of bytes.
  long double count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, bytes] : kUnits) {
    if (unit != name) continue;
    const long double product = count * static_cast<long double>(bytes);
    const bool is_less_than_one = count > 0 && product < 1;
    if (product >= kTooMany || is_less_than_one) return std::nullopt;
    return static_cast<std::int64_t>(product);
  }
  return std::nullopt;
}

std::optional<std::int64_t> ParseByteCount(std::string_view text) {
  // ParseByteSize refuses a number without a unit; here it counts bytes.
  const bool is_plain = text.find_first_not_of("0123456789") == std::string_view::npos;
  return ParseByteSize(is_plain ? std::string(text) + "B" : std::string(text));
}

std::string ExpectedByteSize(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string count(text.substr(0, end));
  std::string unit(text.substr(end));
  std::erase(unit, ' ');
  // With a valid unit and a whole number, the size must be too large.
  const bool is_whole = !count.empty() && count.find('.') == std::string::npos;
  if (is_whole && ParseByteSize("1" + unit).has_value()) return "a size of at most 8388607TiB";
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view kPrefixes = "kmgt";
  const bool has_prefix = !unit.empty() && kPrefixes.find(unit[0]) != std::string_view::npos;
  const std::string rest = has_prefix ? unit.substr(1) : "";
  if (has_prefix && (rest.empty() || rest == "i" || rest == "b" || rest == "ib")) {
    const char prefix = static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])));
    const std::string meant = count + prefix + (rest == "b" ? "B" : "iB");
    if (ParseByteSize(meant).has_value()) return "a size such as " + meant;
  }
  return "a size such as 4GiB";
}

std::string ProblemOfBareAmount(std::int64_t bytes) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 20;
  if (bytes >= kLeast) return "";
  return fmt::format("{0} counts bytes; write a size such as {0}GiB", bytes);
}

std::string ProblemOfAmount(std::string_view text) {
  const std::optional<std::int64_t> bytes = ParseByteCount(text);
  if (!bytes.has_value() || *bytes == 0) {
    return fmt::format("must be {}, got '{}'", ExpectedByteSize(text), text);
  }
  const bool has_unit = ParseByteSize(text).has_value();
  return has_unit ? "" : ProblemOfBareAmount(*bytes);
}

std::string FormatByteSize(std::int64_t bytes) {
  for (const auto& [name, size] : kUnits) {
    if (size > 1 && bytes > 0 && bytes % size == 0) {
      return std::to_string(bytes / size) + std::string(name);
    }
  }
  return std::to_string(bytes);
}

}  // namespace vernier
