#include "src/launch/slurm/cluster.h"

#include <utility>

#include "src/core/status.h"
#include "src/launch/container/container_launcher.h"
#include "src/launch/programs.h"
#include "src/launch/python/python_launcher.h"
#include "src/launch/slurm/commands.h"
#include "src/launch/slurm/slurm_launcher.h"

namespace vernier::launch::slurm {

std::unique_ptr<Slurm> NewSlurmOf(const ClusterOptions& cluster) {
  if (cluster.rest.has_value()) return NewSlurmRest(*cluster.rest);
  return NewSlurmCommands({.folder = cluster.commands});
}

std::shared_ptr<ContainerHost> ContainersOf(const ClusterOptions& cluster) {
  return std::make_shared<ContainerHost>(
      ContainerHostOptions{.kind = EngineKind::kApptainer,
                           .arguments = cluster.container_arguments,
                           .images_directory = ImagesDirectory(cluster.shared)});
}

absl::StatusOr<std::unique_ptr<Launcher>> NewClusterOf(const ClusterOptions& cluster,
                                                       HostParts host,
                                                       const Clock& clock) {
  if (host.supervisor.empty()) {
    VERNIER_ASSIGN_OR_RETURN(host.supervisor, FindSupervisor());
  }
  SlurmLauncherOptions options{.shared = cluster.shared,
                               .supervisor = host.supervisor,
                               .environment = host.environment,
                               .containers = host.containers,
                               .secrets_directory = host.secrets_directory,
                               .site = cluster.site,
                               .gpu_types = cluster.gpu_types};
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Launcher> launcher,
                           NewSlurmLauncher(std::move(options), NewSlurmOf(cluster), clock));
  // Images are fetched and packages installed here, into the folder that the nodes share.
  if (host.containers != nullptr) {
    launcher = NewContainerLauncher(std::move(launcher),
                                    host.containers,
                                    host.supervisor,
                                    host.environment,
                                    ImagesDirectory(cluster.shared) + "/fetching");
  }
  return NewPythonLauncher(std::move(launcher),
                           {.environments_directory = cluster.shared + "/.environments",
                            .supervisor = host.supervisor,
                            .environment = host.environment,
                            .runtimes = std::move(host.runtimes),
                            .executor = host.executor},
                           clock);
}

}  // namespace vernier::launch::slurm
