#pragma once

#include <string>

#include "vernier/launcher.h"

namespace vernier::launch {

// The queue entry of a gang that waits for its packages or images: "installing its packages: Collecting numpy".
// `progress` is the latest message about that and may be empty.
QueuedGang PreparingGang(const GangRequest& gang,
                         std::string needs,
                         std::string reason,
                         const std::string& progress);

}  // namespace vernier::launch
