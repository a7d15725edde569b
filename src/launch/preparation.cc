#include "src/launch/preparation.h"

#include <utility>

namespace vernier::launch {

QueuedGang PreparingGang(const GangRequest& gang,
                         std::string needs,
                         std::string reason,
                         const std::string& progress) {
  if (!progress.empty()) reason += ": " + progress;
  return {.id = gang.id,
          .study = gang.study,
          .priority = gang.priority,
          .queued = gang.queued,
          .needs = std::move(needs),
          .reason = std::move(reason),
          .start_by = {}};
}

}  // namespace vernier::launch
