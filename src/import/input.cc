#include "src/import/input.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include "src/base/open_file.h"
#include "src/core/status.h"

namespace vernier::imports {
namespace {

constexpr std::int64_t kHeadBytes = 4096;
// Deeper nesting than any of the tools writes, and shallow enough for a recursive parser.
constexpr int kMostDepth = 64;

// Replaces the words that Python writes for numbers that JSON lacks, outside of texts.
std::string QuoteNotFinite(std::string_view text) {
  std::string quoted;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text && text[i] == '\\') {
      quoted += text.substr(i++, 2);
      continue;
    }
    if (text[i] == '"') in_text = !in_text;
    bool is_word = false;
    for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
      if (in_text || text.substr(i, word.size()) != word) continue;
      quoted += '"';
      quoted += word;
      quoted += '"';
      i += word.size() - 1;
      is_word = true;
      break;
    }
    if (!is_word) quoted += text[i];
  }
  return quoted;
}

absl::StatusOr<base::OpenFile> Open(const std::string& path) {
  base::OpenFile file(path);
  if (file.error() != 0) return NotFound("{}: no such file, or not readable", path);
  if (!file.kind().empty()) return InvalidArgument("{}: is {}, not a file", path, file.kind());
  return file;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, std::int64_t most) {
  VERNIER_ASSIGN_OR_RETURN(const base::OpenFile file, Open(path));
  const std::int64_t size = file.Size().value_or(0);
  if (size > most)
    return InvalidArgument("{}: must have at most {} bytes, got {}", path, most, size);
  std::optional<std::string> text = file.ReadToEnd(most);
  if (!text.has_value())
    return InvalidArgument("{}: cannot be read: {}", path, std::strerror(errno));
  return *std::move(text);
}

absl::StatusOr<std::string> ReadHead(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const base::OpenFile file, Open(path));
  std::optional<std::string> text = file.ReadAt(0, kHeadBytes);
  if (!text.has_value())
    return InvalidArgument("{}: cannot be read: {}", path, std::strerror(errno));
  return *std::move(text);
}

absl::Status ForEachLine(
    std::string_view text,
    const std::function<absl::Status(std::string_view line, std::size_t number)>& visit) {
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > kMostLine) {
      return InvalidArgument("line {}: must have at most {} bytes, got {}", number, kMostLine, end);
    }
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty()) VERNIER_RETURN_IF_ERROR(visit(line, number));
  }
  return absl::OkStatus();
}

absl::StatusOr<nlohmann::ordered_json> ParseJson(std::string_view text, std::string_view place) {
  using Document = nlohmann::ordered_json;
  bool is_deep = false;
  const auto watch = [&](int depth, Document::parse_event_t, Document&) {
    is_deep = is_deep || depth > kMostDepth;
    return !is_deep;  // What is deeper is not kept.
  };
  const bool is_plain = text.find("NaN") == text.npos && text.find("Infinity") == text.npos;
  Document json = is_plain
                      ? Document::parse(text, watch, /*allow_exceptions=*/false)
                      : Document::parse(QuoteNotFinite(text), watch, /*allow_exceptions=*/false);
  if (is_deep) return InvalidArgument("{}: is nested deeper than {} levels", place, kMostDepth);
  if (json.is_discarded()) return InvalidArgument("{}: is not JSON", place);
  return json;
}

const nlohmann::ordered_json& Member(const nlohmann::ordered_json& json, std::string_view key) {
  static const nlohmann::ordered_json kNull;
  if (!json.is_object()) return kNull;
  const auto at = json.find(std::string(key));
  return at == json.end() ? kNull : *at;
}

std::string TextMember(const nlohmann::ordered_json& json, std::string_view key) {
  const nlohmann::ordered_json& member = Member(json, key);
  return member.is_string() ? member.get<std::string>() : "";
}

}  // namespace vernier::imports
