#pragma once

#include <string>
#include <vector>

#include "src/launch/container/engine.h"
#include "src/launch/replica_files.h"
#include "vernier/launcher.h"

// The command lines by which engines do what replicas need. Pure, and never for a shell: what users write is whole words.
namespace vernier::launch {

// What one replica has of the host.
struct ContainerSite {
  std::string folder;             // The replica's own.
  std::vector<std::string> gpus;  // By the ids that CUDA_VISIBLE_DEVICES takes.
  Share share;
};

// The name of the replica's container: the same for each of its runs, and of no other replica on this host.
std::string ContainerName(const std::string& folder);

// The engine's client as the program that a supervisor runs, with the steps to look after its container. Only argv, env,
// container, share and control groups are set; a container that its engine holds to its share needs no control group.
// REQUIRES: program.container.
SupervisedProgram ContainerProgram(const ContainerEngine& engine,
                                   const ReplicaProgram& program,
                                   const ContainerSite& site,
                                   std::vector<std::string> control_groups);

// The variable of the engine's client whose value the program in the container gets as `name`.
std::string ClientVariable(const ContainerEngine& engine, const std::string& name);

// The file that holds an image, for an engine whose images are files; empty for others. An image that is a path is itself.
std::string ImageFile(const ContainerEngine& engine, const std::string& image);

// Where the engine gets the image from.
std::string ImageSource(const ContainerEngine& engine, const std::string& image);

}  // namespace vernier::launch
