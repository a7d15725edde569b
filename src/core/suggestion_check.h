#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "vernier/core/space.h"
#include "vernier/optimizer.h"

namespace vernier {

// Whether an algorithm, which may be the user's own, kept Optimizer's contract: between 1 and `count` points, each in the
// space. Checked before the points become trials, since a trial outside of the space could not be told.
// Internal: it did not.
absl::Status CheckSuggestions(std::string_view algorithm,
                              const Space& space,
                              std::size_t count,
                              const Suggestions& suggestions);

}  // namespace vernier
