#include "src/core/expression_lexer.h"

#include <array>
#include <charconv>
#include <utility>

#include "src/core/status.h"

namespace vernier {
namespace {

// Longer symbols before their prefixes.
constexpr std::array<std::string_view, 19> kSymbols = {"<=",
                                                       ">=",
                                                       "==",
                                                       "!=",
                                                       "&&",
                                                       "||",
                                                       "<",
                                                       ">",
                                                       "!",
                                                       "+",
                                                       "-",
                                                       "*",
                                                       "/",
                                                       "%",
                                                       "^",
                                                       "(",
                                                       ")",
                                                       ",",
                                                       "="};

// Not <cctype>, whose answers depend on the locale.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::string Describe(const Token& token) {
  return token.kind == Token::Kind::kEnd ? "the end" : fmt::format("'{}'", token.text);
}

ExpressionLexer::ExpressionLexer(std::string_view text,
                                 std::function<bool(std::string_view)> is_known)
    : text_(text), is_known_(std::move(is_known)) {}

Token ExpressionLexer::Take(Token::Kind kind, std::size_t length) {
  Token token{.kind = kind, .text = std::string(text_.substr(at_, length)), .column = at_ + 1};
  at_ += length;
  return token;
}

absl::StatusOr<Token> ExpressionLexer::Next() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  if (at_ == text_.size()) return Token{.kind = Token::Kind::kEnd, .column = at_ + 1};
  const char first = text_[at_];
  const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (IsDigit(first) || (first == '.' && IsDigit(second))) return TakeNumber();
  if (IsLetter(first)) return TakeName();
  if (first == '\'' || first == '"') return TakeQuoted(Token::Kind::kText);
  if (first == '`') return TakeQuoted(Token::Kind::kName);
  for (const std::string_view symbol : kSymbols) {
    if (text_.substr(at_).starts_with(symbol)) return Take(Token::Kind::kSymbol, symbol.size());
  }
  return InvalidArgument("unexpected character '{}' at column {}", first, at_ + 1);
}

absl::StatusOr<Token> ExpressionLexer::TakeNumber() {
  double number = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
  // The text begins like a number, so only its range can be wrong.
  if (error != std::errc()) {
    return InvalidArgument("the number at column {} is beyond what a double holds", at_ + 1);
  }
  Token token = Take(Token::Kind::kNumber, static_cast<std::size_t>(end - begin));
  token.number = number;
  // Without this, 2x and 1.2.3 would be two tokens, and the error would be about the second one.
  if (at_ < text_.size() && (IsLetter(text_[at_]) || text_[at_] == '.')) {
    return InvalidArgument(
        "expected an operator after the number at column {}, got '{}'", token.column, text_[at_]);
  }
  return token;
}

absl::StatusOr<Token> ExpressionLexer::TakeQuoted(Token::Kind kind) {
  // There are no escapes: a text with one kind of quotes is written in the other.
  const std::size_t close = text_.find(text_[at_], at_ + 1);
  if (close == std::string_view::npos) {
    return InvalidArgument("the {} at column {} has no closing quote",
                           kind == Token::Kind::kName ? "name" : "text",
                           at_ + 1);
  }
  Token token = Take(kind, close + 1 - at_);
  token.text = token.text.substr(1, token.text.size() - 2);
  token.is_quoted = true;
  return token;
}

Token ExpressionLexer::TakeName() {
  std::size_t length = 0;
  std::size_t first_part = 0;  // Length up to the first '-'.
  while (at_ + length < text_.size()) {
    const char c = text_[at_ + length];
    if (c == '-' && first_part == 0) first_part = length;
    if (!IsLetter(c) && !IsDigit(c) && c != '.' && c != '-') break;
    ++length;
  }
  if (first_part == 0) return Take(Token::Kind::kName, length);
  // Try the longest name first, then shorter ones that end before a '-'.
  for (std::size_t part = length; part > first_part;
       part = text_.substr(at_, part).find_last_of('-')) {
    if (is_known_(text_.substr(at_, part))) return Take(Token::Kind::kName, part);
  }
  return Take(Token::Kind::kName, first_part);
}

}  // namespace vernier
