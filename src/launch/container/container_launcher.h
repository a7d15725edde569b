#pragma once

#include <memory>
#include <string>

#include "src/launch/container/engine.h"
#include "vernier/launcher.h"

namespace vernier::launch {

// A launcher that sees to it that the container images of a gang are on this host before `launcher` starts it; meanwhile the
// gang is STARTING. A gang whose images cannot be fetched FAILS: USER_ERROR, or INTERNAL if the engine does not answer.
// `supervisor`: the program that looks after the fetching, which outlives this process. Not thread-safe.
std::unique_ptr<Launcher> NewContainerLauncher(std::unique_ptr<Launcher> launcher,
                                               std::shared_ptr<ContainerHost> host,
                                               std::string supervisor);

}  // namespace vernier::launch
