#include "src/codec/document.h"

#include "fmt/format.h"
#include "src/codec/json_text.h"
#include "src/codec/yaml_reader.h"
#include "src/core/utf8.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::codec {
absl::StatusOr<nlohmann::ordered_json> ReadDocument(std::string_view text, std::string_view what) {
  if (text.size() > limits::kFile) {
    return FieldError(what,
                      fmt::format("must be at most {} bytes, got {}", limits::kFile, text.size()));
  }
  // Checked here for both parsers.
  if (ToValidUtf8(text) != text) return FieldError(what, "must be UTF-8 text");
  // YAML nearly contains JSON, but what starts with a brace may be either: it is read as JSON first.
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') return ReadYaml(text, what);
  absl::StatusOr<nlohmann::ordered_json> json = ReadJson(text, what);
  // An error that names a line is one of syntax: it was no JSON, and may be YAML. Another one, such as a key that is
  // there twice, is the user's.
  const bool no_json = !json.ok() && GetField(json.status()) != what;
  return no_json ? ReadYaml(text, what) : json;
}

}  // namespace vernier::codec
