#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/launch/container/engine.h"
#include "src/launch/environment.h"
#include "src/launch/python/environments.h"
#include "src/launch/slurm/rest.h"
#include "src/launch/slurm/slurm.h"
#include "vernier/core/clock.h"
#include "vernier/core/executor.h"
#include "vernier/launcher.h"

namespace vernier::launch::slurm {

// A Slurm cluster as a server's configuration has it: docs/formats/server_configuration.md.
struct ClusterOptions {
  std::string shared;  // Folder that every node sees under the same path; absolute.
  SiteOptions site;
  std::map<std::string, std::string> gpu_types;  // As SlurmLauncherOptions.
  // Arguments of apptainer before the image of each container.
  std::vector<std::string> container_arguments;
  std::string commands;  // Folder of sbatch and the others; empty: they are looked up on PATH.
  std::optional<RestOptions> rest;  // Unset: by Slurm's commands.
  friend bool operator==(const ClusterOptions&, const ClusterOptions&) = default;
};

// What a server has besides, the same for all clusters.
struct HostParts {
  std::string supervisor;
  Environment environment;
  std::string secrets_directory;
  // Of ContainersOf(cluster).
  std::shared_ptr<ContainerHost> containers;
  std::map<std::string, PythonRuntime> runtimes;
  Executor* executor = nullptr;
};

// The way to its controller.
std::unique_ptr<Slurm> NewSlurmOf(const ClusterOptions& cluster);

// What runs container images on the cluster's nodes: apptainer, found on this host's PATH.
std::shared_ptr<ContainerHost> ContainersOf(const ClusterOptions& cluster);

// The launcher of the cluster, and what brings Python packages and container images into the shared
// folder.
// Errors: as NewSlurmLauncher.
absl::StatusOr<std::unique_ptr<Launcher>> NewClusterOf(const ClusterOptions& cluster,
                                                       HostParts host,
                                                       const Clock& clock);

}  // namespace vernier::launch::slurm
