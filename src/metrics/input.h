#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Reading what a program writes while it writes it.
namespace vernier::metrics {

// "0.5", "1e-05", "nan", "-inf": the whole text must be a number as C or Python prints it.
std::optional<double> ParseNumber(std::string_view text);

// The bytes of a file from `offset` on, at most `count`; none if it does not exist.  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     std::int64_t offset = 0,
                                     std::int64_t count = std::int64_t{1} << 24);

}  // namespace vernier::metrics
