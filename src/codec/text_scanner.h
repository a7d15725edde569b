#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace vernier::codec {

// Takes what it expects off the front of a text. Once something is missing, all that follows is.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  void Skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return Fail();
    rest_.remove_prefix(expected.size());
  }
  bool TakeIf(char expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeIf(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  // What comes next; 0 at the end.
  char Peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  std::int64_t Integer() {
    std::int64_t value = 0;
    Number(value);
    return value;
  }
  template <typename T>
  void Number(T& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto size = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc() || !IsJson(rest_.substr(0, size))) return Fail();
    rest_.remove_prefix(size);
  }
  // The number that comes next, as it is written.
  std::string_view NumberText() const {
    return rest_.substr(0, rest_.find_first_not_of("+-.0123456789eE"));
  }
  // As Form<double> writes it: what is not finite stands as a text.
  double Double() {
    double value = 0;
    if (rest_.starts_with('"')) {
      const std::string_view text = Text();
      if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (text == "inf") return std::numeric_limits<double>::infinity();
      if (text == "-inf") return -std::numeric_limits<double>::infinity();
      Fail();
    } else {
      Number(value);
    }
    return value;
  }
  // Plain characters between quotes; one that is escaped, or no ASCII, is for others to read.
  std::string_view Text() {
    Skip("\"");
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const auto c = static_cast<unsigned char>(rest_[i]);
      if (c == '"') {
        const std::string_view text = rest_.substr(0, i);
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (c < ' ' || c > '~' || c == '\\') break;
    }
    Fail();
    return {};
  }
  // The same with the escapes of quotes, backslashes and ends of lines, which texts of options and programs are full of.
  std::string EscapedText() {
    std::string text;
    Skip("\"");
    while (ok_) {
      const char c = Peek();
      if (c == '"') {
        rest_.remove_prefix(1);
        return text;
      }
      if (c == '\\') {
        rest_.remove_prefix(1);
        text += Unescaped();
      } else if (c < ' ' || c > '~') {
        Fail();
      } else {
        text += c;
        rest_.remove_prefix(1);
      }
    }
    return {};
  }
  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  static bool IsDigit(std::string_view text, std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  }

  char Unescaped() {
    if (TakeIf('"')) return '"';
    if (TakeIf('\\')) return '\\';
    if (TakeIf('n')) return '\n';
    Fail();
    return '\0';
  }

  // from_chars also takes "inf", "00" and "1.", which JSON has not.
  static bool IsJson(std::string_view number) {
    const std::size_t first = number.starts_with('-') ? 1 : 0;
    if (!IsDigit(number, first)) return false;
    if (number[first] == '0' && IsDigit(number, first + 1)) return false;
    const std::size_t dot = number.find('.');
    return dot == std::string_view::npos || IsDigit(number, dot + 1);
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace vernier::codec
