// No terminal emulation: cursor movements are dropped, not executed. Programs that redraw several lines therefore show
// each state as lines, which is enough to find metrics and to read a log.

#include "src/base/terminal_text.h"

#include <cstddef>
#include <utility>

namespace vernier::base {
namespace {

constexpr char kEscape = '\x1b';

// Returns the end of the escape sequence that begins at `i` (ECMA-48: CSI, OSC and other strings, two-character
// sequences).
std::size_t SkipEscape(std::string_view raw, std::size_t i) {
  ++i;
  if (i >= raw.size()) return raw.size();
  const char kind = raw[i++];
  const auto is_between = [&](char low, char high) {
    return i < raw.size() && raw[i] >= low && raw[i] <= high;
  };
  if (kind == '[') {
    while (is_between(' ', '?')) ++i;
    return is_between('@', '~') ? i + 1 : i;
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^') {
    while (i < raw.size() && raw[i] != '\a' && raw[i] != kEscape) ++i;
    if (i < raw.size() && raw[i] == kEscape) return i + 1 < raw.size() ? i + 2 : i + 1;
    return i < raw.size() ? i + 1 : i;
  }
  if (kind >= ' ' && kind <= '/') {
    while (is_between(' ', '/')) ++i;
    return i < raw.size() ? i + 1 : i;
  }
  return i;
}

}  // namespace

std::vector<TerminalLine> SplitTerminalLine(std::string_view raw) {
  std::vector<TerminalLine> lines;
  std::string text;
  const auto end_line = [&](bool overwritten) {
    if (text.find_first_not_of(" \t") != std::string::npos) {
      lines.push_back({.text = std::exchange(text, {}), .overwritten = overwritten});
    }
    text.clear();
  };
  for (std::size_t i = 0; i < raw.size();) {
    const char c = raw[i];
    if (c == kEscape) {
      i = SkipEscape(raw, i);
      continue;
    }
    ++i;
    if (c == '\r' || c == '\b') {
      end_line(true);
    } else if (c == '\t' || static_cast<unsigned char>(c) >= ' ') {
      text.push_back(c);
    }
  }
  end_line(false);
  return lines;
}

}  // namespace vernier::base
