// Compares how trials failed (docs/adr/0022): three failures alike, without a success, end a study.
// Two runs of one broken program differ in numbers, addresses, temporary files and parameter
// values, so these are replaced by "#" before messages are compared.

#include "src/study/alike.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <variant>

namespace vernier::study {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsDigitAt(std::string_view text, std::size_t i) { return i < text.size() && IsDigit(text[i]); }

// End of the number that begins at `i`: "12", "0.5", "1e-05".
std::size_t EndOfNumber(std::string_view text, std::size_t i) {
  while (IsDigitAt(text, i) || (i < text.size() && text[i] == '.' && IsDigitAt(text, i + 1))) ++i;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const std::size_t sign =
        i + 1 < text.size() && (text[i + 1] == '-' || text[i + 1] == '+') ? 1 : 0;
    if (IsDigitAt(text, i + 1 + sign)) return EndOfNumber(text, i + 1 + sign);
  }
  return i;
}

// Characters of a word. Slashes are none, so that each part of a path is a word.
bool IsInWord(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Whether the word is an address or a hash: "0x7f3a", "d41d8cd98f00".
bool IsHash(std::string_view word) {
  // A choice. One digit or more must be decimal, so that words such as "defaced" are no hashes.
  constexpr std::size_t kShortest = 7;
  if (word.starts_with("0x")) return std::ranges::all_of(word.substr(2), IsHex);
  return word.size() >= kShortest && std::ranges::all_of(word, IsHex) &&
         std::ranges::any_of(word, IsDigit);
}

// End of a parameter's value that stands at `i` as a word, such as the name of a category. `i` if
// none does.
std::size_t EndOfValue(std::string_view text, std::size_t i, const Point& point) {
  if (i > 0 && IsInWord(text[i - 1])) return i;
  for (const auto& [name, value] : point) {
    const auto* word = std::get_if<std::string>(&value);
    if (word == nullptr || word->empty() || !text.substr(i).starts_with(*word)) continue;
    const std::size_t end = i + word->size();
    if (end == text.size() || !IsInWord(text[end])) return end;
  }
  return i;
}

// End of the path of a temporary file that begins at `i`. `i` if none does.
std::size_t EndOfTemporary(std::string_view text, std::size_t i) {
  constexpr std::array<std::string_view, 3> kFolders = {"/tmp/", "/var/tmp/", "/dev/shm/"};
  const bool is_temporary = std::ranges::any_of(
      kFolders, [&](std::string_view folder) { return text.substr(i).starts_with(folder); });
  return is_temporary ? std::min(text.find_first_of(" '\",;:)]", i), text.size()) : i;
}

// End of the number that stands at `i` as a word of its own, so that no part of it is taken for a
// hash. `i` if none does.
std::size_t EndOfFreeNumber(std::string_view text, std::size_t i) {
  if (i > 0 && IsInWord(text[i - 1])) return i;
  const std::size_t digits = text[i] == '-' ? i + 1 : i;
  if (!IsDigitAt(text, digits)) return i;
  const std::size_t end = EndOfNumber(text, digits);
  return end == text.size() || !IsInWord(text[end]) ? end : i;
}

std::string WithoutNames(std::string_view text, const Point& point) {
  std::string rest;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end =
        // The longest match counts: a temporary path may begin with a parameter's value.
        std::max({EndOfTemporary(text, i), EndOfValue(text, i, point), EndOfFreeNumber(text, i)});
    if (end > i) {
      rest += '#';
    } else if (IsInWord(text[i])) {
      while (end < text.size() && IsInWord(text[end])) ++end;
      const std::string_view word = text.substr(i, end - i);
      rest += IsHash(word) ? "#" : word;
    } else {
      rest += text[end++];
    }
    i = end;
  }
  return rest;
}

}  // namespace

std::string EndOf(std::string_view message, const Point& point) {
  // Begin of the sentence about the replica to blame (src/jobs/failure.cc).
  constexpr std::string_view kReplica = "The replica ";
  // Messages may be cut at different lengths, so that only their beginnings are compared. A choice.
  constexpr std::size_t kTelling = 200;
  std::string text(message);
  const std::size_t replica = text.find(kReplica);
  if (replica != std::string::npos) {
    const std::size_t end = text.find(". ", replica);
    if (end != std::string::npos) text.resize(end);
    // Removes the replica's name, such as "worker 1": which of several replicas fails first is
    // chance.
    const std::size_t name = replica + kReplica.size();
    const std::size_t index = text.find(' ', name);
    const std::size_t status = index == std::string::npos ? index : text.find(' ', index + 1);
    if (status != std::string::npos) text.erase(name, status - name);
  }
  return WithoutNumbers(WithoutNames(text, point)).substr(0, kTelling);
}

std::string WithoutNumbers(std::string_view text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size();) {
    // A minus that follows a word is a hyphen.
    const bool is_hyphen = !rest.empty() && (IsLetter(rest.back()) || rest.back() == '#');
    const bool is_negative = text[i] == '-' && !is_hyphen && IsDigitAt(text, i + 1);
    if (IsDigit(text[i]) || is_negative) {
      i = EndOfNumber(text, is_negative ? i + 1 : i);
      rest += '#';
    } else {
      rest += text[i++];
    }
  }
  return rest;
}

}  // namespace vernier::study
