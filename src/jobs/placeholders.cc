#include "src/jobs/placeholders.h"

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/core/parameter_argument.h"

namespace vernier::jobs {
namespace {

// A part of a text: literal, or the name of a placeholder.
struct Piece {
  bool is_placeholder = false;
  std::string_view text;
};

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

// The length of "{name}" at the start of the text; 0 if there is none.
std::size_t PlaceholderLength(std::string_view text) {
  if (text.size() < 3 || text[0] != '{' || !IsNameStart(text[1])) return 0;
  std::size_t end = 2;
  while (end < text.size() && IsNamePart(text[end])) ++end;
  return end < text.size() && text[end] == '}' ? end + 1 : 0;
}

// The length of "{{name}}" at the start of the text; 0 if there is none.
std::size_t EscapeLength(std::string_view text) {
  if (text.empty() || text[0] != '{') return 0;
  const std::size_t inner = PlaceholderLength(text.substr(1));
  if (inner == 0 || text.substr(1 + inner, 1) != "}") return 0;
  return inner + 2;
}

std::vector<Piece> Cut(std::string_view text) {
  std::vector<Piece> pieces;
  std::size_t literal = 0;  // Begin of the literal text before `at`.
  const auto flush = [&](std::size_t end) {
    if (end > literal) pieces.push_back({false, text.substr(literal, end - literal)});
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    // The escape is tried first, since "{{lr}}" also contains "{lr}".
    if (const std::size_t escape = EscapeLength(rest); escape > 0) {
      flush(at);
      pieces.push_back({false, rest.substr(1, escape - 2)});
      literal = at += escape;
    } else if (const std::size_t length = PlaceholderLength(rest); length == 0) {
      ++at;
    } else if (at > 0 && text[at - 1] == '$') {  // ${name} belongs to the shell.
      at += length;
    } else {
      flush(at);
      pieces.push_back({true, rest.substr(1, length - 2)});
      literal = at += length;
    }
  }
  flush(text.size());
  return pieces;
}

}  // namespace

std::set<std::string> PlaceholderNames(std::string_view text) {
  std::set<std::string> names;
  for (const Piece& piece : Cut(text)) {
    if (piece.is_placeholder) names.emplace(piece.text);
  }
  return names;
}

bool HasPlaceholders(const StudySpec& spec) {
  return !spec.job->input.has_value() && !spec.space.parameters().empty();
}

std::optional<std::string> Substitute(std::string_view text, const PlaceholderValues& values) {
  const Space& space = values.spec.space;
  std::string result;
  bool is_inactive = false;
  for (const Piece& piece : Cut(text)) {
    // A parameter goes before a fixed name such as {trial}.
    const std::optional<int> index = piece.is_placeholder ? space.Find(piece.text) : std::nullopt;
    if (index.has_value()) {
      const auto value = values.point.find(std::string(piece.text));
      if (value == values.point.end()) {
        is_inactive = true;
        continue;
      }
      const Parameter& parameter = space.parameters()[static_cast<std::size_t>(*index)];
      const std::optional<std::string> flag =
          FlagFor(ArgumentOf(*values.spec.job, parameter), value->second);
      result += flag.has_value() ? *flag : FormatValue(value->second);
      continue;
    }
    const auto other = piece.is_placeholder ? values.others.find(piece.text) : values.others.end();
    if (other != values.others.end()) {
      result += other->second;
    } else {
      result += piece.is_placeholder ? fmt::format("{{{}}}", piece.text) : std::string(piece.text);
    }
  }
  return is_inactive ? std::nullopt : std::optional(std::move(result));
}

bool IsPlaceholder(std::string_view name, const StudySpec& spec) {
  if (!HasPlaceholders(spec)) return false;
  return spec.space.Find(name).has_value() || name == kParametersFile || name == kTrialNumber ||
         (name == kJobDirectory && !spec.job->job_directory.empty());
}

std::optional<std::string> FlagFor(const ParameterArgument& argument, const ParameterValue& value) {
  const bool is_negative = argument.style == ArgumentStyle::kAbsentFlag;
  if (argument.style != ArgumentStyle::kFlag && !is_negative) return std::nullopt;
  const auto* const is_true = std::get_if<bool>(&value);
  return is_true != nullptr && *is_true != is_negative ? argument.name : "";
}

}  // namespace vernier::jobs
