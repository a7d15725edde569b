#pragma once

#include <string>
#include <vector>

#include "src/launch/container/engine.h"
#include "src/launch/replica_files.h"
#include "vernier/launcher.h"

// Builds the command lines of engines for replicas. Pure functions. No shell is involved: text from users is always a
// whole argument.
namespace vernier::launch {

// The resources of a replica on this host.
struct ContainerSite {
  std::string folder;             // The replica's folder.
  std::vector<std::string> gpus;  // Ids as in CUDA_VISIBLE_DEVICES.
  Share share;
};

// The name of the replica's container: the same for all of its runs, and unique on this host.
std::string ContainerName(const std::string& folder);

// Returns the engine's client as the program for a supervisor, with the steps to inspect and remove the container. Sets
// only argv, env, container, share and control groups. A container that its engine limits needs no control group.
// REQUIRES: program.container.
SupervisedProgram ContainerProgram(const ContainerEngine& engine,
                                   const ReplicaProgram& program,
                                   const ContainerSite& site,
                                   std::vector<std::string> control_groups);

// The variable of the engine's client that passes its value on as `name` to the program in the container.
std::string ClientVariable(const ContainerEngine& engine, const std::string& name);

// The file of an image, for an engine whose images are files; else empty. An image given as a path is its own file.
std::string ImageFile(const ContainerEngine& engine, const std::string& image);

// The source from which the engine fetches the image.
std::string ImageSource(const ContainerEngine& engine, const std::string& image);

}  // namespace vernier::launch
