#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace vernier::codec {

// Splits as a POSIX shell splits words: blanks separate, '…' keeps all, "…" keeps all but \" \\ \$ \` and \newline, a
// backslash elsewhere keeps the next character. Nothing is expanded.
// InvalidArgument: a quote that is not closed, a backslash at the end.
absl::StatusOr<std::vector<std::string>> SplitShellWords(std::string_view text);

}  // namespace vernier::codec
