#pragma once

#include <map>
#include <memory>
#include <string>

#include "vernier/launcher.h"

namespace vernier::launch {

// The name of the launcher of this host, where a server has several.
inline constexpr char kLocalCluster[] = "local";

// Several launchers as one: each gang goes to the cluster that its job names. `clusters`: by name; `usual`: the name of the
// one for jobs that name none. A gang of an unknown cluster is Unavailable, and waits in the queue with the reason.
//
// Nodes and waiting gangs are those of all, in the order of the names. Thread-safe as the launchers are.
// REQUIRES: `clusters` has `usual`.
std::unique_ptr<Launcher> NewClusterLauncher(
    std::map<std::string, std::unique_ptr<Launcher>> clusters, std::string usual);

}  // namespace vernier::launch
