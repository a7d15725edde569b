#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "src/wire/filter.h"

namespace vernier::wire {

// The tree of a filter, columns and values checked. Errors as Filter::Parse.
absl::StatusOr<FilterNode> ParseFilter(std::string_view text, const ColumnSet& columns);

}  // namespace vernier::wire
