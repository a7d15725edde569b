#include "src/core/metric_names.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "src/core/nearest.h"

namespace vernier {
namespace {

// Normalises a name for comparison: "Val-Acc" becomes "val_acc".
std::string Plain(std::string_view name) {
  std::string plain(name);
  for (char& c : plain) {
    c = absl::ascii_isalnum(static_cast<unsigned char>(c))
            ? absl::ascii_tolower(static_cast<unsigned char>(c))
            : '_';
  }
  return plain;
}

std::string LastWord(const std::string& plain) { return plain.substr(plain.rfind('_') + 1); }

// Whether one is a prefix of the other, of three letters or more: shorter prefixes, such as "l" of "loss", fit too many
// names.
bool IsShortForm(std::string_view a, std::string_view b) {
  constexpr std::size_t kShortest = 3;
  return std::min(a.size(), b.size()) >= kShortest && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

NameLikeness CompareMetricNames(std::string_view a, std::string_view b) {
  const std::string first = Plain(a);
  const std::string second = Plain(b);
  // From the strongest likeness to the weakest.
  if (first == second) return NameLikeness::kSame;
  if (first.ends_with("_" + second) || second.ends_with("_" + first)) return NameLikeness::kEnd;
  if (SlipsBetween(first, second).has_value()) return NameLikeness::kSlip;
  if (IsShortForm(first, second)) return NameLikeness::kShortForm;
  if (IsShortForm(LastWord(first), LastWord(second))) return NameLikeness::kSimilarEnd;
  return NameLikeness::kNone;
}

}  // namespace vernier
