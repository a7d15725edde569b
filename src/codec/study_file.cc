#include "src/codec/study_file.h"

#include "fmt/format.h"
#include "src/codec/job_file.h"
#include "src/codec/json_text.h"
#include "src/codec/spec_reader.h"
#include "src/codec/utf8.h"
#include "src/codec/yaml_reader.h"
#include "vernier/core/error.h"

namespace vernier::codec {
namespace {

constexpr std::size_t kMaxSize = std::size_t{1} << 20;

// YAML, which nearly contains JSON: what starts with a brace is read as JSON where it is.
absl::StatusOr<nlohmann::ordered_json> ReadDocument(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') return ReadYaml(text);
  absl::StatusOr<nlohmann::ordered_json> json = ReadJson(text);
  const bool no_json = !json.ok() && GetField(json.status()) != "study file";
  return no_json ? ReadYaml(text) : json;
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> ParseDocument(std::string_view text) {
  if (text.size() > kMaxSize) {
    return FieldError("study file",
                      fmt::format("must be at most {} bytes, got {}", kMaxSize, text.size()));
  }
  if (ToValidUtf8(text) != text) return FieldError("study file", "must be UTF-8 text");
  return ReadDocument(text);
}

absl::StatusOr<StudySpec> ParseStudyFile(std::string_view text, std::string_view name) {
  VERNIER_ASSIGN_OR_RETURN(nlohmann::ordered_json document, ParseDocument(text));
  if (!name.empty() && document.is_object()) {
    document[IsJobFile(document) ? "jobId" : "study"] = name;
  }
  return StudySpecFromJson(document);
}

absl::StatusOr<StudySpec> StudySpecFromJson(const nlohmann::ordered_json& document) {
  return ReadSpec(document, UnknownKeys::kRefuse);
}

}  // namespace vernier::codec
