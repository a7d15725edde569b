// A tolerant parser of the format of Python's traceback module. Output of several processes may be mixed, prefixed per
// process or cut off, so lines that do not fit are skipped, and a traceback counts only once its exception line was
// found.

#include "src/launch/python_traceback.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/launch/line_text.h"

namespace vernier::launch {
namespace {

// Texts of Lib/traceback.py, the same in all versions of Python 3.
constexpr std::string_view kHeading = "Traceback (most recent call last):";
constexpr std::string_view kGroup = "Exception Group ";
constexpr std::string_view kFrame = "  File \"";
constexpr std::string_view kCause =
    "The above exception was the direct cause of the following exception:";
constexpr std::string_view kContext =
    "During handling of the above exception, another exception occurred:";
// Lines before a traceback that ended nothing: sys.unraisablehook, atexit, logging and sys.excepthook.
constexpr std::array<std::string_view, 4> kIgnored = {
    "Exception ignored in", "Error in atexit", "--- Logging error ---", "Error in sys.excepthook"};

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

std::string_view TrimLeft(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

// `  File "train.py", line 12, in main`; a syntax error's has no function.
std::optional<TracebackFrame> ParseFrame(std::string_view text) {
  if (!text.starts_with(kFrame)) return std::nullopt;
  text.remove_prefix(kFrame.size());
  constexpr std::string_view kLine = "\", line ";
  const std::size_t line = text.find(kLine);
  if (line == std::string_view::npos) return std::nullopt;
  TracebackFrame frame{.file = std::string(text.substr(0, line)), .function = "", .source = ""};
  text.remove_prefix(line + kLine.size());
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), frame.line);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  constexpr std::string_view kIn = ", in ";
  if (text.starts_with(kIn)) frame.function = std::string(text.substr(kIn.size()));
  return frame;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '<' || c == '>';
}

// Type and message of "ValueError: bad lr" or "KeyboardInterrupt".
std::optional<std::pair<std::string, std::string>> ParseException(std::string_view text) {
  const std::size_t end = std::min(text.find(':'), text.size());
  const std::string_view type = text.substr(0, end);
  if (type.empty() || (type[0] >= '0' && type[0] <= '9')) return std::nullopt;
  if (!std::ranges::all_of(type, IsNameCharacter)) return std::nullopt;
  const bool is_plain = end == text.size() || end + 1 == text.size() || text[end + 1] == ' ';
  if (!is_plain) return std::nullopt;
  const std::string_view rest = text.substr(std::min(end + 1, text.size()));
  return std::pair(std::string(type), std::string(TrimLeft(rest)));
}

// Text before the heading which also precedes some of the other lines: "[rank0]: ", or the bars of an exception group.
std::string PrefixOf(std::string_view heading) {
  std::string prefix(heading.substr(0, heading.find(kHeading)));
  if (!prefix.ends_with(kGroup)) return prefix;
  prefix.resize(prefix.size() - kGroup.size());
  if (prefix.ends_with("+ ")) prefix.replace(prefix.size() - 2, 2, "| ");
  return prefix;
}

class Parser {
 public:
  explicit Parser(std::span<const std::string> lines) : lines_(lines) {}

  std::vector<Traceback> Parse() {
    for (std::size_t i = 0; i < lines_.size();) {
      const std::string& line = lines_[i];
      const bool is_heading = line.ends_with(kHeading);
      if (is_heading || IsBareSyntaxError(i)) {
        i = Take(i, is_heading);
        continue;
      }
      if (Contains(line, kCause)) link_ = Traceback::Link::kCause;
      if (Contains(line, kContext)) link_ = Traceback::Link::kContext;
      AddMore(line);
      ++i;
    }
    return std::move(found_);
  }

 private:
  // Frames without a heading, as Python prints a syntax error in the main program.
  bool IsBareSyntaxError(std::size_t i) const {
    if (!ParseFrame(lines_[i]).has_value()) return false;
    for (std::size_t j = i + 1; j < lines_.size() && j < i + 5; ++j) {
      const auto exception = ParseException(lines_[j]);
      if (exception.has_value()) {
        return exception->first == "SyntaxError" || exception->first == "IndentationError" ||
               exception->first == "TabError";
      }
    }
    return false;
  }

  // Reads the traceback whose heading, or first frame, is at `begin`. Returns the line after it.
  std::size_t Take(std::size_t begin, bool has_heading) {
    Traceback traceback;
    traceback.begin = begin;
    traceback.link = std::exchange(link_, Traceback::Link::kNone);
    traceback.is_ignored = IsIgnored(begin);
    const std::string prefix = has_heading ? PrefixOf(lines_[begin]) : "";
    std::size_t i = begin + (has_heading ? 1 : 0);
    const bool is_prefixed =
        !IsBlank(prefix) && i < lines_.size() && lines_[i].starts_with(prefix + " ");
    for (; i < lines_.size(); ++i) {
      std::string_view line = lines_[i];
      if (line.starts_with(prefix)) {
        line.remove_prefix(prefix.size());
      } else if (is_prefixed) {
        continue;  // Printed by another process.
      }
      if (line.ends_with(kHeading)) return i;  // Cut off by another one.
      if (std::optional<TracebackFrame> frame = ParseFrame(line)) {
        traceback.frames.push_back(*std::move(frame));
        continue;
      }
      if (line.starts_with(' ') || line.starts_with('\t') || line.empty()) {
        AddSource(line, traceback);
        continue;
      }
      auto exception = ParseException(line);
      if (!exception.has_value()) {
        if (i - begin > kLongest) return i;
        continue;  // Unrelated output in between.
      }
      traceback.type = std::move(exception->first);
      traceback.message = std::move(exception->second);
      traceback.end = i + 1;
      found_.push_back(std::move(traceback));
      prefix_ = prefix;
      return i + 1;
    }
    return i;
  }

  static void AddSource(std::string_view line, Traceback& traceback) {
    const std::string_view source = TrimLeft(line);
    if (traceback.frames.empty() || source.empty()) return;
    if (!traceback.frames.back().source.empty()) return;  // "^^^^", "[Previous line repeated …]".
    traceback.frames.back().source = std::string(source);
  }

  bool IsIgnored(std::size_t begin) const {
    // The report may take two lines: "Exception ignored in: <function …>" and details.
    for (std::size_t i = begin; i > 0 && i + 2 > begin; --i) {
      const std::string_view line = lines_[i - 1];
      if (std::ranges::any_of(kIgnored,
                              [&](std::string_view mark) { return Contains(line, mark); })) {
        return true;
      }
      if (!found_.empty() && found_.back().end == i) return false;
    }
    return false;
  }

  // Adds a line after a traceback, usually the next line of its message.
  void AddMore(std::string_view line) {
    // A choice: ample for a message of many lines, such as TensorFlow's.
    constexpr std::size_t kMost = 60;
    if (found_.empty() || link_ != Traceback::Link::kNone || found_.back().more.size() >= kMost) {
      return;
    }
    if (line.starts_with(prefix_)) line.remove_prefix(prefix_.size());
    found_.back().more.emplace_back(line);
  }

  // Most lines of one traceback. A choice above Python's recursion limit (1,000 frames of two lines): more is ordinary
  // text.
  static constexpr std::size_t kLongest = 2000;
  const std::span<const std::string> lines_;
  std::vector<Traceback> found_;
  Traceback::Link link_ = Traceback::Link::kNone;
  std::string prefix_;  // Prefix of the last traceback.
};

}  // namespace

std::vector<Traceback> FindTracebacks(std::span<const std::string> lines) {
  return Parser(lines).Parse();
}

bool IsLibrary(const TracebackFrame& frame) {
  return frame.file.starts_with("<frozen ") || Contains(frame.file, "/site-packages/") ||
         Contains(frame.file, "/dist-packages/") || Contains(frame.file, "/lib/python3");
}

}  // namespace vernier::launch
