#include "src/launch/output_segments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;

// Begin of the segment with this file name; `first` is the name of the first one. Nothing: not a segment.
std::optional<std::int64_t> BeginOf(const std::string& name, const std::string& first) {
  std::int64_t begin = 0;
  if (name.size() > first.size()) {
    std::from_chars(name.data() + first.size() + 1, name.data() + name.size(), begin);
  }
  // Formatting the number again rejects names that only resemble a segment's: other padding, signs, suffixes.
  return SegmentPath(first, begin) == name ? std::optional(begin) : std::nullopt;
}

}  // namespace

std::string SegmentPath(const std::string& log_file, std::int64_t begin) {
  if (begin == 0) return log_file;
  char number[32];
  // Twelve digits, so that names sort by position up to a terabyte.
  std::snprintf(number, sizeof number, ".%012lld", static_cast<long long>(begin));
  return log_file + number;
}

std::vector<std::int64_t> ListSegments(const std::string& log_file) {
  const fs::path path(log_file);
  const std::string first = path.filename().string();
  std::vector<std::int64_t> begins;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto begin = BeginOf(entry.path().filename().string(), first);
    if (begin.has_value()) begins.push_back(*begin);
  }
  std::ranges::sort(begins);
  return begins;
}

}  // namespace vernier::launch
