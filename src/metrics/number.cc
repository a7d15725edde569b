#include "src/metrics/number.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace vernier::metrics {
namespace {

// Letters of a unit, as in "20ms", "3it", "5MiB". A choice: longer words are not units.
constexpr std::size_t kLongestUnit = 3;
constexpr std::size_t kLongestNumber = 400;  // A choice: more digits than programs print.

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }
bool IsWordChar(char c) { return IsDigit(c) || IsLetter(c) || c == '_'; }

char At(std::string_view text, std::size_t i) { return i < text.size() ? text[i] : '\0'; }

std::size_t SkipDigits(std::string_view text, std::size_t i) {
  while (IsDigit(At(text, i))) ++i;
  return i;
}

// Length of the decimal number at the start, sign included; 0: none.
std::size_t DecimalLength(std::string_view text) {
  std::size_t i = At(text, 0) == '-' || At(text, 0) == '+' ? 1 : 0;
  const std::size_t whole = SkipDigits(text, i);
  std::size_t end = whole;
  if (At(text, whole) == '.') end = SkipDigits(text, whole + 1);
  const bool has_digits = whole > i || end > whole + 1;
  if (!has_digits) return 0;
  if (At(text, end) != 'e' && At(text, end) != 'E') return end;
  std::size_t exponent = end + 1;
  if (At(text, exponent) == '-' || At(text, exponent) == '+') ++exponent;
  const std::size_t exponent_end = SkipDigits(text, exponent);
  return exponent_end > exponent ? exponent_end : end;
}

// Finds NaN or an infinity in the spellings of C and Python.
std::optional<FoundNumber> FindSpecial(std::string_view text) {
  const std::size_t sign = At(text, 0) == '-' || At(text, 0) == '+' ? 1 : 0;
  const std::string_view rest = text.substr(sign);
  for (const std::string_view word : {"infinity", "inf", "nan"}) {
    if (!absl::StartsWithIgnoreCase(absl::string_view(rest.data(), rest.size()),
                                    absl::string_view(word.data(), word.size())) ||
        IsWordChar(At(rest, word.size()))) {
      continue;
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double value = word == "nan" ? std::numeric_limits<double>::quiet_NaN() : kInfinity;
    if (text.front() == '-') value = -value;
    return FoundNumber{.value = value, .length = sign + word.size()};
  }
  return std::nullopt;
}

// Whether the text after the digits leaves them a number of their own.
bool EndsNumber(std::string_view rest) {
  const char next = At(rest, 0);
  constexpr std::string_view kJoints = ".,:/-";  // Followed by a digit: a version, a time, a date.
  if (next != '\0' && kJoints.find(next) != std::string_view::npos) return !IsDigit(At(rest, 1));
  if (!IsWordChar(next)) return true;
  const auto letters =
      static_cast<std::size_t>(std::ranges::find_if_not(rest, IsLetter) - rest.begin());
  // "5e" is a torn exponent, not a number with a unit.
  const bool is_exponent = absl::ascii_tolower(static_cast<unsigned char>(next)) == 'e';
  return letters > 0 && letters <= kLongestUnit && !is_exponent && !IsWordChar(At(rest, letters));
}

// Length of "tensor(", "np.float64([" and the like at the start; 0: none.
std::size_t ConstructorLength(std::string_view text) {
  std::size_t i = 0;
  while (IsWordChar(At(text, i)) || (i > 0 && At(text, i) == '.')) ++i;
  if (i == 0 || IsDigit(text.front()) || At(text, i) != '(') return 0;
  ++i;
  while (At(text, i) == '[' || At(text, i) == ' ') ++i;
  return i;
}

std::size_t SkipAny(std::string_view text, std::size_t i, std::string_view set) {
  while (i < text.size() && set.find(text[i]) != std::string_view::npos) ++i;
  return i;
}

}  // namespace

std::optional<FoundNumber> FindNumber(std::string_view text) {
  if (const auto special = FindSpecial(text)) return special;
  const std::size_t length = DecimalLength(text);
  if (length == 0 || length > kLongestNumber || !EndsNumber(text.substr(length))) {
    return std::nullopt;
  }
  // SimpleAtod does not accept a leading plus.
  const std::string_view digits = text.substr(text.front() == '+' ? 1 : 0, length);
  FoundNumber found{.length = length};
  const std::size_t shown = length - (text.front() == '+' ? 1 : 0);
  if (!absl::SimpleAtod(absl::string_view(digits.data(), shown), &found.value)) return std::nullopt;
  return found;
}

std::optional<FoundNumber> FindFraction(std::string_view text) {
  constexpr std::size_t kMostDigits = 15;  // Exact as doubles (below 2^53).
  const std::size_t slash = SkipDigits(text, 0);
  const std::size_t end = SkipDigits(text, slash + 1);
  const bool has_both = slash > 0 && At(text, slash) == '/' && end > slash + 1;
  if (!has_both || slash > kMostDigits || end - slash - 1 > kMostDigits) return std::nullopt;
  const std::string_view rest = text.substr(end);
  if (At(rest, 0) == '/' || IsWordChar(At(rest, 0)) || !EndsNumber(rest)) return std::nullopt;
  const bool is_bar = At(rest, SkipAny(rest, 0, " \t")) == '[';
  double part = 0;
  double whole = 0;
  const bool are_numbers =
      absl::SimpleAtod(absl::string_view(text.data(), slash), &part) &&
      absl::SimpleAtod(absl::string_view(text.data() + slash + 1, end - slash - 1), &whole);
  if (is_bar || !are_numbers || whole == 0) return std::nullopt;
  return FoundNumber{.value = part / whole, .length = end};
}

std::optional<FoundNumber> FindValue(std::string_view text) {
  std::size_t at = SkipAny(text, 0, " \t");
  at = SkipAny(text, at, "\"'");
  if (const auto found = FindFraction(text.substr(at))) {
    return FoundNumber{.value = found->value, .length = at + found->length};
  }
  if (const auto found = FindNumber(text.substr(at))) {
    return FoundNumber{.value = found->value, .length = at + found->length};
  }
  at += ConstructorLength(text.substr(at));
  const auto found = FindNumber(text.substr(at));
  if (!found.has_value()) return std::nullopt;
  return FoundNumber{.value = found->value, .length = at + found->length};
}

std::optional<double> ParseNumber(std::string_view text) {
  const auto found = FindNumber(text);
  if (!found.has_value() || found->length != text.size()) return std::nullopt;
  return found->value;
}

}  // namespace vernier::metrics
