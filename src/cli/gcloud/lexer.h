#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

// Reads the expressions of --filter, --format, --sort-by and --flatten: keys, words and quoted text.
namespace vernier::gcloud {

// Characters that end a name in a key, unless they are quoted.
inline constexpr std::string_view kReserved = ":=!<>~()[].{},+*/%&|^#;?";
// Characters that end a word of a filter.
inline constexpr std::string_view kOperatorCharacters = ":=!<>~()";

// Aliases of keys, such as the headings of a table: "STATUS" for "state".
using Aliases = std::map<std::string, std::string>;

class Lexer {
 public:
  // Errors begin with `flag`. The arguments must outlive the lexer.
  Lexer(std::string_view flag, std::string_view text, const Aliases* aliases = nullptr)
      : flag_(flag), text_(text), aliases_(aliases) {}

  // Resolves an alias; other names stay.
  std::string Resolve(const std::string& name) const;

  bool AtEnd() const { return at_ >= text_.size(); }
  // The next character; 0 at the end.
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool Take(char c);
  void SkipSpace();
  std::size_t position() const { return at_; }
  void set_position(std::size_t at) { at_ = at; }
  std::string_view flag() const { return flag_; }

  // Takes this word in any case, if it is followed by a blank, a parenthesis or the end.
  bool TakeWord(std::string_view word);

  struct Token {
    std::string text;
    bool is_quoted = false;  // At least partly.
    bool is_empty() const { return text.empty() && !is_quoted; }
  };
  // The characters up to an unquoted blank or one of `ends`, without quotes. With `balanced`, `ends` count only outside
  // of parentheses, and blanks belong to the token.  InvalidArgument: a quote is not closed.
  absl::StatusOr<Token> ReadToken(std::string_view ends, bool balanced = false);

  // The tokens of a list whose opening parenthesis has been taken, up to the closing one.
  absl::StatusOr<std::vector<Token>> ReadList(std::string_view separators);

  // "--filter: expected a value at character 7, got 'x'".
  absl::Status Expected(std::string_view wanted) const;
  absl::Status Error(std::string_view message) const;

 private:
  std::string_view flag_;
  std::string_view text_;
  const Aliases* aliases_;
  std::size_t at_ = 0;
};

// Longer expressions are refused. A choice: the server allows 4096 bytes, shells far more.
inline constexpr std::size_t kMaxExpression = 8192;

}  // namespace vernier::gcloud
