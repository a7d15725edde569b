// The rules were settled on a table of lines that trainers print: tests/metrics/line_table_test.cc. Names are matched
// by hand, steps by RE2, whose run time is linear in the line.

#include "src/metrics/text_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
#include "re2/re2.h"
#include "src/metrics/number.h"

namespace vernier::metrics {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }

const RE2& Compiled(const char* expression) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_case_sensitive(false);
  return *new RE2(expression, options);
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// Position after the separator that follows a name; nothing if there is neither "=" nor ":".
std::optional<std::size_t> SkipSeparator(std::string_view line, std::size_t at) {
  at = line.find_first_not_of("\"'`", at);
  at = line.find_first_not_of(" \t", at);
  if (at == std::string_view::npos || (line[at] != '=' && line[at] != ':')) return std::nullopt;
  return at + 1;
}

bool HasLetter(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); });
}

// Whether a word does not change the meaning of the name after it.
bool IsNeutral(std::string_view word) {
  static const RE2& kNeutral =
      Compiled(R"(\d.*|[-+]?(?:nan|inf|infinity)|(?:e|ep|epoch|step|iter|iteration|batch)[-_]?\d+)"
               R"(|trace|debug|info|notice|warn|warning|error|critical|fatal|and|with|now)");
  return !HasLetter(word) || RE2::FullMatch(Piece(word), kNeutral);
}

// The word directly before the name at `at`; empty: none that belongs to the name.
std::string_view WordBefore(std::string_view line, std::size_t at) {
  constexpr std::string_view kQuotes = "\"'`";
  while (at > 0 && kQuotes.find(line[at - 1]) != std::string_view::npos) --at;
  if (at == 0 || line[at - 1] != ' ') return {};
  const std::size_t end = at - 1;
  std::size_t begin = end;
  while (begin > 0 && (IsNameChar(line[begin - 1]) || line[begin - 1] == '\'')) --begin;
  const bool is_value = begin > 0 && line[begin - 1] == '=';
  const std::string_view word = line.substr(begin, end - begin);
  return is_value || IsNeutral(word) ? std::string_view() : word;
}

// Calls `visit` with the end of each occurrence of `text` that is not the end of a longer name.
void VisitPlaces(std::string_view line,
                 std::string_view text,
                 const std::function<void(std::size_t end)>& visit) {
  if (text.empty()) return;
  for (std::size_t at = line.find(text); at != std::string_view::npos;
       at = line.find(text, at + 1)) {
    const bool is_tail = at > 0 && IsNameChar(line[at - 1]) && IsNameChar(text.front());
    if (!is_tail) visit(at + text.size());
  }
}

// Whether the name is that of a step: "Epoch: 3/10" is a position and no ratio.
bool IsStepName(std::string_view name) {
  static const RE2& kStep = Compiled(R"(epochs?|(?:global_)?steps?|iter(?:ation)?s?|batch)");
  return RE2::FullMatch(Piece(name), kStep);
}

// The value after a name.
std::optional<FoundNumber> ValueAfter(std::string_view name, std::string_view rest) {
  const auto value = FindValue(rest);
  const bool is_fraction =
      value.has_value() && rest.substr(0, value->length).find('/') != std::string_view::npos;
  return is_fraction && IsStepName(name) ? std::nullopt : value;
}

std::optional<std::int64_t> Find(const RE2& expression, std::string_view line) {
  std::int64_t number = 0;
  if (RE2::PartialMatch(Piece(line), expression, &number)) return number;
  return std::nullopt;
}

}  // namespace

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == '-';
}

NamedValue FindAfter(std::string_view line, std::string_view text) {
  NamedValue found;
  VisitPlaces(line, text, [&](std::size_t end) {
    found.is_there = true;
    if (const auto value = FindValue(line.substr(end))) found.value = value->value;
  });
  return found;
}

NamedValues FindNamed(std::string_view line, std::string_view name) {
  NamedValues found;
  VisitPlaces(line, name, [&](std::size_t end) {
    const auto number = SkipSeparator(line, end);
    if (!number.has_value()) return;
    found.is_there = true;
    const auto value = ValueAfter(name, line.substr(*number));
    if (!value.has_value()) return;
    const std::string_view word = WordBefore(line, end - name.size());
    if (word.empty()) {
      found.bare = value->value;
      return;
    }
    const auto begin = static_cast<std::size_t>(word.data() - line.data());
    found.qualified = NamedValues::QualifiedName{.name = line.substr(begin, end - begin),
                                                 .head = line.substr(begin, *number - begin),
                                                 .value = value->value};
  });
  return found;
}

void VisitPairs(std::string_view line, const PairVisitor& visit) {
  for (std::size_t i = 0; i < line.size();) {
    if (!IsNameStart(line[i])) {
      // Skip the rest of a token that is no name: digits, paths.
      while (i < line.size() && IsNameChar(line[i]) && !IsNameStart(line[i])) ++i;
      if (i < line.size() && !IsNameStart(line[i])) ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < line.size() && IsNameChar(line[i])) ++i;
    const auto number = SkipSeparator(line, i);
    if (!number.has_value()) continue;
    const std::string_view name = line.substr(begin, i - begin);
    const auto value = ValueAfter(name, line.substr(*number));
    if (value.has_value()) {
      visit(name, line.substr(begin, *number - begin), value->value);
    }
    i = *number;
  }
}

std::optional<std::int64_t> FindStep(std::string_view line) {
  // The name, separators, a whole number; a fraction would be a part of an epoch. At most 18 digits fit into 63 bits.
  static const std::array<const RE2*, 4> kSteps = {
      &Compiled(
          R"((?:^|[^\w./-])epoch["'`]?\s*[:=#\[(]*\s*["']?(\d{1,18})(?:\.0*)?(?:[^\w.]|\.?$))"),
      &Compiled(
          R"((?:^|[^\w./-])step["'`]?\s*[:=#\[(]*\s*["']?(\d{1,18})(?:\.0*)?(?:[^\w.]|\.?$))"),
      &Compiled(
          R"((?:^|[^\w./-])global_step["'`]?\s*[:=#\[(]*\s*["']?(\d{1,18})(?:\.0*)?(?:[^\w.]|\.?$))"),
      &Compiled(
          R"((?:^|[^\w./-])iter(?:ation)?["'`]?\s*[:=#\[(]*\s*["']?(\d{1,18})(?:\.0*)?(?:[^\w.]|\.?$))")};
  for (const RE2* const expression : kSteps) {
    if (const auto step = Find(*expression, line)) return step;
  }
  // The first column of XGBoost ("[3]\t…") and CatBoost ("3:\t…").
  static const RE2& kFirstColumn = Compiled(R"(^\s*(?:\[(\d{1,18})\]|(\d{1,18}):)\t)");
  std::string bracketed;
  std::string plain;
  if (!RE2::PartialMatch(Piece(line), kFirstColumn, &bracketed, &plain)) return std::nullopt;
  return std::stoll(bracketed.empty() ? plain : bracketed);
}

bool StatesFraction(std::string_view line) {
  // Without a unit behind it: "epoch: 1.5s" is how long it took.
  static const RE2& kFraction = Compiled(
      R"((?:^|[^\w./-])(?:epoch|step|global_step|iter(?:ation)?)["'`]?\s*[:=]\s*["']?\d{1,18}\.\d*[1-9]\d*(?:[^\w.%]|\.?$))");
  return RE2::PartialMatch(Piece(line), kFraction);
}

std::optional<std::int64_t> FindHeader(std::string_view line) {
  static const RE2& kHeader = Compiled(
      R"(^[^\w]*(?:epoch|step|global_step|iteration)[^\w-]*(\d{1,18})(?:\s*(?:/|of)\s*\d+)?[^\w]*$)");
  return Find(kHeader, line);
}

std::optional<std::int64_t> FindBarPosition(std::string_view line) {
  static const RE2& kBar = Compiled(R"((?:^|[^\w./-])(\d{1,18})/(?:\d+|\?)\s+\[)");
  return Find(kBar, line);
}

}  // namespace vernier::metrics
