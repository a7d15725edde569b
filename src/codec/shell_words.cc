#include "src/codec/shell_words.h"

#include <optional>

#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::codec {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view text) : rest_(text) {}

  absl::StatusOr<std::vector<std::string>> Split() {
    while (!rest_.empty()) VERNIER_RETURN_IF_ERROR(Next());
    EndWord();
    return std::move(words_);
  }

 private:
  char Take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  void Append(char c) {
    // A word begins with its first character.
    if (!word_) word_.emplace();
    *word_ += c;
  }
  void EndWord() {
    if (word_) words_.push_back(*std::move(word_));
    word_.reset();
  }

  absl::Status Next() {
    const char c = Take();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      EndWord();
    } else if (c == '\'' || c == '"') {
      return Quoted(c);
    } else if (c == '\\') {
      if (rest_.empty()) return InvalidArgument("a backslash at the end keeps nothing");
      // A backslash before the end of a line joins the lines, as in a shell.
      if (const char kept = Take(); kept != '\n') Append(kept);
    } else {
      Append(c);
    }
    return absl::OkStatus();
  }

  absl::Status Quoted(char quote) {
    if (!word_) word_.emplace();  // '' is a word, an empty one.
    while (!rest_.empty()) {
      const char c = Take();
      if (c == quote) return absl::OkStatus();
      // Inside double quotes a backslash is an ordinary character before any other.
      const bool escapes =
          quote == '"' && c == '\\' && !rest_.empty() &&
          std::string_view("\"\\$`\n").find(rest_.front()) != std::string_view::npos;
      if (!escapes) {
        Append(c);
      } else if (const char kept = Take(); kept != '\n') {
        Append(kept);
      }
    }
    return InvalidArgument("the quote {} is not closed", quote);
  }

  std::string_view rest_;
  std::optional<std::string> word_;  // The word begun, if any.
  std::vector<std::string> words_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitShellWords(std::string_view text) {
  return Splitter(text).Split();
}

}  // namespace vernier::codec
