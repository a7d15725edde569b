#include "src/launch/gang/gang_records.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "nlohmann/json.hpp"
#include "src/core/status.h"
#include "src/launch/replica_files.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

using nlohmann::json;

// Names and fields: docs/formats/attempt_directory.md.
constexpr char kGangFile[] = "/gang.json";
constexpr char kVerdictFile[] = "/verdict.json";

constexpr std::array kVerdictStates = {
    AttemptState::kSucceeded, AttemptState::kFailed, AttemptState::kStopped, AttemptState::kLost};
constexpr std::array kFailures = {FailureClass::kNone,
                                  FailureClass::kUserError,
                                  FailureClass::kOutOfMemory,
                                  FailureClass::kPreempted,
                                  FailureClass::kNodeLost,
                                  FailureClass::kTimeout,
                                  FailureClass::kInternal};

// The value with that name; `otherwise` for an unknown name, which a later version may have written before a downgrade.
template <typename Values, typename Name, typename Value>
Value ByName(const Values& values, Name name_of, std::string_view name, Value otherwise) {
  for (const Value value : values) {
    if (name_of(value) == name) return value;
  }
  return otherwise;
}

absl::Status Write(const std::string& path, const json& document) {
  const std::string text = document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  // Not durable: the records matter only while replicas run, and a power failure of this host ends those, or a launcher of
  // other hosts does without the record. Killing the daemon loses nothing.
  if (ReplaceFile(path, text, /*durable=*/false)) return absl::OkStatus();
  return NotWritten("cannot write", path, errno);
}

absl::StatusOr<std::optional<json>> Read(const std::string& path) {
  const std::optional<std::string> text = ReadWholeFile(path);
  if (!text.has_value()) {
    // EINVAL, ELOOP: not a regular file, which counts as a damaged record.
    if (errno == ENOENT || errno == EINVAL || errno == ELOOP) return std::optional<json>();
    return Unavailable("cannot read '{}': {}", path, std::strerror(errno));
  }
  json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  // A power failure may leave an empty file after the rename. The replicas are down then anyway.
  if (!document.is_object()) return std::optional<json>();
  return std::optional<json>(std::move(document));
}

std::int64_t Integer(const json& document, const char* key) {
  const auto value = document.find(key);
  return value != document.end() && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

std::string Text(const json& document, const char* key) {
  const auto value = document.find(key);
  return value != document.end() && value->is_string() ? value->get<std::string>() : "";
}

bool IsTrue(const json& document, const char* key) {
  const auto value = document.find(key);
  return value != document.end() && *value == json(true);
}

}  // namespace

absl::Status NotWritten(const char* what, const std::string& path, int error) {
  if (IsDiskFull(error)) {
    return ResourceExhausted("{} '{}': {}", what, path, std::strerror(error));
  }
  return Unavailable("{} '{}': {}", what, path, std::strerror(error));
}

absl::Status WriteGangRecord(const std::string& directory, const GangRecord& record) {
  json document = {{"grace_ms", absl::ToInt64Milliseconds(record.grace)},
                   {"lenient", record.lenient}};
  if (record.time_limit.has_value()) {
    document["time_limit_ms"] = absl::ToInt64Milliseconds(*record.time_limit);
  }
  return Write(directory + kGangFile, document);
}

absl::StatusOr<std::optional<GangRecord>> ReadGangRecord(const std::string& directory) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<json> document, Read(directory + kGangFile));
  if (!document.has_value()) return std::optional<GangRecord>();
  GangRecord record{.grace = absl::Milliseconds(Integer(*document, "grace_ms")),
                    .lenient = IsTrue(*document, "lenient")};
  if (document->contains("time_limit_ms")) {
    record.time_limit = absl::Milliseconds(Integer(*document, "time_limit_ms"));
  }
  return std::optional<GangRecord>(record);
}

absl::Status ReserveGangEnd(const std::string& directory) {
  if (ReserveFile(directory + kVerdictFile)) return absl::OkStatus();
  return NotWritten("cannot write", directory + kVerdictFile, errno);
}

absl::Status WriteGangEnd(const std::string& directory, const GangEnd& gang_end) {
  return Write(directory + kVerdictFile,
               {{"state", AttemptStateName(gang_end.state)},
                {"failure", FailureClassName(gang_end.failure)},
                {"transient", gang_end.transient},
                {"message", gang_end.message},
                {"time_us", absl::ToUnixMicros(gang_end.time)}});
}

absl::StatusOr<std::optional<GangEnd>> ReadGangEnd(const std::string& directory) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<json> document, Read(directory + kVerdictFile));
  if (!document.has_value()) return std::optional<GangEnd>();
  return std::optional<GangEnd>(GangEnd{
      .state =
          ByName(kVerdictStates, AttemptStateName, Text(*document, "state"), AttemptState::kFailed),
      .failure =
          ByName(kFailures, FailureClassName, Text(*document, "failure"), FailureClass::kInternal),
      .transient = IsTrue(*document, "transient"),
      .message = Text(*document, "message"),
      .time = absl::FromUnixMicros(Integer(*document, "time_us"))});
}

}  // namespace vernier::launch
