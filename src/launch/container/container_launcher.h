#pragma once

#include <memory>
#include <string>

#include "src/launch/container/engine.h"
#include "src/launch/environment.h"
#include "vernier/launcher.h"

namespace vernier::launch {

// A launcher that sees to it that the container images of a gang are on this host before `launcher` places it. Where
// somebody removed them since, they are fetched again before it is started, and the gang is STARTING meanwhile; it FAILS if
// they cannot be: USER_ERROR, or INTERNAL if the engine does not answer.
// `supervisor`: the program that looks after the fetching, which outlives this process. `environment`: what that starts
// with. `directory`: where it leaves what
// it has to say. Not thread-safe but for Nodes and Queue.
std::unique_ptr<Launcher> NewContainerLauncher(std::unique_ptr<Launcher> launcher,
                                               std::shared_ptr<ContainerHost> host,
                                               std::string supervisor,
                                               Environment environment,
                                               std::string directory);

}  // namespace vernier::launch
