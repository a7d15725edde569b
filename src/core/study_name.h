#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "vernier/core/limits.h"

namespace vernier {

// Whether the name is valid for a study: ^[A-Za-z][A-Za-z0-9_-]{0,127}$. It is also part of
// resource names and of the paths of runs.
inline bool IsStudyName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto is_part = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= limits::kStudyName && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), is_part);
}

// The error message for an invalid name.
inline std::string NotAStudyName(std::string_view name) {
  return fmt::format("must match ^[A-Za-z][A-Za-z0-9_-]{{0,127}}$, got '{}'", name);
}

}  // namespace vernier
