#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

// Bounded reading of files that other tools wrote.
namespace vernier::imports {

// Largest file that is read as a whole, and longest line. Choices: a journal of 100,000 trials has about 200 MiB.
inline constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;
inline constexpr std::size_t kMostLine = std::size_t{16} << 20;

// The file as a whole.  NotFound: no such file.  InvalidArgument: not a regular file, not readable, or too large.
absl::StatusOr<std::string> ReadFile(const std::string& path, std::int64_t most = kMostBytes);
// The first bytes of a file, to see what it is.
absl::StatusOr<std::string> ReadHead(const std::string& path);

// Calls `visit` with each line that is not empty, and its number from 1.  InvalidArgument: a line is too long.
absl::Status ForEachLine(
    std::string_view text,
    const std::function<absl::Status(std::string_view line, std::size_t number)>& visit);

// A JSON document of a program; NaN and Infinity, as Python writes them, are read as text of that name.
// InvalidArgument: "PLACE: is not JSON".
absl::StatusOr<nlohmann::ordered_json> ParseJson(std::string_view text, std::string_view place);

// Members of a document that somebody else wrote: empty or null where they are missing or of another type.
const nlohmann::ordered_json& Member(const nlohmann::ordered_json& json, std::string_view key);
std::string TextMember(const nlohmann::ordered_json& json, std::string_view key);

}  // namespace vernier::imports
