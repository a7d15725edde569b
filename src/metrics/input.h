#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Reading what a program writes while it writes it.
namespace vernier::metrics {

// "0.5", "1e-05", "nan", "-inf": the whole text must be a number as C or Python prints it.
std::optional<double> ParseNumber(std::string_view text);

// The beginning of a file, more of it than any report has; nothing if it does not exist.  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace vernier::metrics
