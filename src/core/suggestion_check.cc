#include "src/core/suggestion_check.h"

#include <string>

#include "src/core/status.h"

namespace vernier {

absl::Status CheckSuggestions(std::string_view algorithm,
                              const Space& space,
                              std::size_t count,
                              const Suggestions& suggestions) {
  if (suggestions.points.empty() || suggestions.points.size() > count) {
    return Internal("algorithm '{}' proposed {} points, asked for {}",
                    algorithm,
                    suggestions.points.size(),
                    count);
  }
  for (const Suggestion& suggestion : suggestions.points) {
    const absl::Status legal = space.Check(suggestion.point);
    if (legal.ok()) continue;
    return Internal("algorithm '{}' left the space: {}", algorithm, std::string(legal.message()));
  }
  return absl::OkStatus();
}

}  // namespace vernier
