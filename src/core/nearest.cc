#include "src/core/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "fmt/format.h"

namespace vernier {
namespace {

// Longer names are not compared: the cost is quadratic, and hardly anybody types such names.
constexpr std::size_t kCompared = 128;
// Number of names that are compared, to bound the cost of an error message.
constexpr std::size_t kNamesCompared = 1000;

bool SameLetter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// The restricted Damerau-Levenshtein distance (optimal string alignment), ignoring case: the number of insertions,
// deletions, substitutions and swaps of neighbours that turn `a` into `b`. Keeps three rows of the table, since a swap
// looks back two.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = SameLetter(a[i - 1], b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && SameLetter(a[i - 1], b[j - 2]) && SameLetter(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::size_t> SlipsBetween(std::string_view given, std::string_view name) {
  if (given.size() > kCompared || name.size() > kCompared) return std::nullopt;
  // Allow errors in a third of the letters, and at least one. A choice.
  const std::size_t most = std::max<std::size_t>(1, given.size() / 3);
  const std::size_t distance = EditDistance(given, name);
  // With every letter replaced it is another word.
  const bool is_near = distance <= most && distance < std::max(given.size(), name.size());
  return is_near ? std::optional(distance) : std::nullopt;
}

std::string NearestHint(std::string_view given,
                        std::span<const std::string> known,
                        std::size_t most) {
  if (known.empty()) return "";
  const std::string* nearest = nullptr;
  std::size_t best = 0;
  for (const std::string& name : known.first(std::min(known.size(), kNamesCompared))) {
    const std::optional<std::size_t> slips = SlipsBetween(given, name);
    if (slips.has_value() && (nearest == nullptr || *slips < best)) {
      best = *slips;
      nearest = &name;
    }
  }
  if (nearest != nullptr) return fmt::format("; did you mean '{}'?", *nearest);
  std::string list;
  for (std::size_t i = 0; i < std::min(known.size(), most); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", known[i]);
  }
  return fmt::format("; known: {}{}", list, known.size() > most ? ", …" : "");
}

}  // namespace vernier
