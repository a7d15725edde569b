#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace vernier {

struct Token {
  enum class Kind { kNumber, kName, kText, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;   // As written; of quoted text and `names`, what is between the quotes.
  double number = 0;  // Of a number.
  std::size_t column = 1;
};

// "'<='", "the end": the token as an error message shows it.
std::string Describe(const Token& token);

// Cuts the text of an expression into tokens. Keeps a view of the text.
class ExpressionLexer {
 public:
  // `is_known`: whether a name exists. Names may hold '-', and so `a-b` is one name if there is such a one, else `a`.
  ExpressionLexer(std::string_view text, std::function<bool(std::string_view)> is_known);

  // The next token; kEnd again and again after the last.
  // InvalidArgument: a character that starts no token, a malformed number, text without its closing quote.
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
