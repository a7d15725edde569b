#pragma once

#include <memory>
#include <string>

#include "src/launch/container/engine.h"
#include "src/launch/environment.h"
#include "vernier/launcher.h"

namespace vernier::launch {

// Wraps a launcher so that the container images of a gang are on this host before `launcher` places it. If an image was
// removed in between, it is fetched again before the start; the gang is STARTING meanwhile, and FAILS if that is
// impossible: USER_ERROR, or INTERNAL if the engine does not answer. `supervisor`: the program that supervises a fetch,
// which outlives this process. `environment`: for the fetch. `directory`: for the records and output of fetches. Not
// thread-safe, except for CheckFits, Nodes, Queue and WhyHeld.
std::unique_ptr<Launcher> NewContainerLauncher(std::unique_ptr<Launcher> launcher,
                                               std::shared_ptr<ContainerHost> host,
                                               std::string supervisor,
                                               Environment environment,
                                               std::string directory);

}  // namespace vernier::launch
