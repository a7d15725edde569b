#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/space.h"

// Parameters named in commands, arguments and environment: "{lr}". docs in layout.h.
namespace vernier::jobs {

// The names in `{name}` of the text, whether or not they are parameters.
std::set<std::string> PlaceholderNames(std::string_view text);

// The text with every placeholder replaced by the parameter's value; nothing if it names an inactive one, which is absent
// from `point`.  InvalidArgument: a FieldError at `path` for a name that is no parameter of `space`.
absl::StatusOr<std::optional<std::string>> Substitute(std::string_view text,
                                                      const Space& space,
                                                      const Point& point,
                                                      std::string_view path);

// InvalidArgument: as Substitute.
absl::Status CheckPlaceholders(std::string_view text, const Space& space, std::string_view path);

}  // namespace vernier::jobs
