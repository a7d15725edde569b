// There are no fixed tokens: what ends a word depends on where it stands, so the parsers pass the ends. Positions in
// errors count from 1, in bytes of the user's text.

#include "src/cli/gcloud/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "fmt/format.h"
#include "src/core/status.h"

namespace vernier::gcloud {
namespace {

bool IsSpace(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }
bool IsQuote(char c) { return c == '"' || c == '\''; }
bool IsOneOf(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

}  // namespace

std::string Lexer::Resolve(const std::string& name) const {
  if (aliases_ == nullptr) return name;
  const auto alias = aliases_->find(name);
  return alias == aliases_->end() ? name : alias->second;
}

bool Lexer::Take(char c) {
  if (AtEnd() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void Lexer::SkipSpace() {
  while (!AtEnd() && IsSpace(text_[at_])) ++at_;
}

bool Lexer::TakeWord(std::string_view word) {
  SkipSpace();
  const std::string next(text_.substr(at_, word.size()));
  if (!absl::EqualsIgnoreCase(next, std::string(word))) return false;
  const std::size_t end = at_ + word.size();
  // "ORDER" begins with OR, but is another word.
  if (end < text_.size() && !IsSpace(text_[end]) && !IsOneOf("()", text_[end])) return false;
  at_ = end;
  return true;
}

absl::StatusOr<Lexer::Token> Lexer::ReadToken(std::string_view ends, bool balanced) {
  Token token;
  char quote = '\0';
  int depth = 0;
  const std::size_t start = at_;
  for (; !AtEnd(); ++at_) {
    const char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size()) {
      const char next = text_[at_ + 1];
      // A backslash escapes itself and quotes only, so that regular expressions keep theirs.
      const bool escapes = next == '\\' || (quote != '\0' ? next == quote : IsQuote(next));
      if (!escapes) token.text += c;
      token.text += next;
      ++at_;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        token.text += c;
      }
    } else if (IsQuote(c)) {
      quote = c;
      token.is_quoted = true;
    } else {
      const bool ends_here = (IsSpace(c) && !balanced) || IsOneOf(ends, c);
      if (depth == 0 && ends_here) break;
      if (balanced && c == '(') ++depth;
      if (balanced && c == ')') --depth;
      token.text += c;
    }
  }
  if (quote == '\0') return token;
  return Error(fmt::format("the quote after character {} is not closed", start));
}

absl::StatusOr<std::vector<Lexer::Token>> Lexer::ReadList(std::string_view separators) {
  std::vector<Token> items;
  const std::string ends = std::string(separators) + ")";
  const bool splits_at_blanks = IsOneOf(separators, ' ');
  while (true) {
    SkipSpace();
    VERNIER_ASSIGN_OR_RETURN(Token item, ReadToken(ends, /*balanced=*/true));
    // Blanks around an item are no part of it, unless they are quoted.
    if (!splits_at_blanks && !item.is_quoted) absl::StripAsciiWhitespace(&item.text);
    const bool is_last = Take(')');
    if (!item.is_empty()) {
      items.push_back(std::move(item));
    } else if (!splits_at_blanks && !(is_last && items.empty())) {
      return Expected("an argument");
    }
    if (is_last) return items;
    if (AtEnd()) return Expected("')'");
    if (IsOneOf(separators, Peek())) ++at_;
  }
}

absl::Status Lexer::Expected(std::string_view wanted) const {
  std::size_t length = 1;  // Of the whole UTF-8 character.
  while (at_ + length < text_.size() &&
         (static_cast<unsigned char>(text_[at_ + length]) >> 6) == 2) {
    ++length;
  }
  return Error(fmt::format("expected {} at character {}, got {}",
                           wanted,
                           at_ + 1,
                           AtEnd() ? "the end" : fmt::format("'{}'", text_.substr(at_, length))));
}

absl::Status Lexer::Error(std::string_view message) const {
  return InvalidArgument("{}: {}", flag_, message);
}

}  // namespace vernier::gcloud
