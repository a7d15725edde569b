#pragma once

#include <string>

#include "vernier/launcher.h"

namespace vernier::launch {

// A gang that waits for what it needs, as the queue tells of it: "installing its packages: Collecting numpy". `progress`,
// what was said of that last, may be empty.
QueuedGang PreparingGang(const GangRequest& gang,
                         std::string needs,
                         std::string reason,
                         const std::string& progress);

}  // namespace vernier::launch
