#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace vernier {

// A token of an expression.
struct Token {
  enum class Kind { kNumber, kName, kText, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;        // As written; for quoted text and `names`, without the quotes.
  double number = 0;       // With kNumber.
  bool is_quoted = false;  // It stands for itself, whatever word it is.
  std::size_t column = 1;  // In bytes, from 1.
};

// Formats a token for an error message: "'<='", "the end".
std::string Describe(const Token& token);

// Splits the text of an expression into tokens. The text must outlive it.
class ExpressionLexer {
 public:
  // `is_known`: whether a name exists. Names may contain '-': `a-b` is one name if it exists, otherwise the difference
  // of two.
  ExpressionLexer(std::string_view text, std::function<bool(std::string_view)> is_known);

  // Returns the next token; kEnd after the last one.
  // InvalidArgument: an unexpected character, a malformed number, or a missing closing quote.
  absl::StatusOr<Token> Next();

 private:
  Token Take(Token::Kind kind, std::size_t length);
  absl::StatusOr<Token> TakeNumber();
  absl::StatusOr<Token> TakeQuoted(Token::Kind kind);
  Token TakeName();

  std::string_view text_;
  std::function<bool(std::string_view)> is_known_;
  std::size_t at_ = 0;
};

}  // namespace vernier
