#include "src/launch/host_launcher.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "src/core/status.h"
#include "src/launch/container/container_launcher.h"
#include "src/launch/environment.h"
#include "src/launch/programs.h"
#include "src/launch/python/python_launcher.h"
#include "vernier/local_launcher.h"

namespace vernier {
namespace launch {

absl::StatusOr<std::unique_ptr<Launcher>> NewHostLauncher(HostLauncherOptions options,
                                                          const Clock& clock) {
  ProcessLauncherOptions& processes = options.processes;
  // All three launchers must use the same supervisor program, so find it before the first is made.
  if (processes.supervisor.empty()) {
    VERNIER_ASSIGN_OR_RETURN(processes.supervisor, FindSupervisor());
  }
  processes.containers = options.containers;
  std::error_code error;
  // Absolute, since installers and programs run in other directories.
  const std::string runs = std::filesystem::absolute(processes.runs_directory, error).string();
  const std::string supervisor = processes.supervisor;
  const Environment environment = processes.environment;
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Launcher> launcher,
                           NewProcessLauncher(std::move(processes), clock));
  if (options.containers != nullptr) {
    launcher = NewContainerLauncher(std::move(launcher),
                                    options.containers,
                                    supervisor,
                                    environment,
                                    ImagesDirectory(runs) + "/fetching");
  }
  return NewPythonLauncher(std::move(launcher),
                           {.environments_directory = runs + "/.environments",
                            .supervisor = supervisor,
                            .environment = environment,
                            .runtimes = std::move(options.runtimes),
                            .executor = options.executor},
                           clock);
}

}  // namespace launch

absl::StatusOr<std::unique_ptr<Launcher>> NewLocalLauncher(const LocalLauncherOptions& options,
                                                           const Clock& clock) {
  launch::HostLauncherOptions host;
  host.processes.runs_directory = options.runs_directory;
  host.processes.supervisor = options.supervisor;
  host.processes.environment = launch::OwnEnvironment(options.inherit_env);
  host.processes.secrets_directory = options.secrets_directory;
  host.processes.cpus = options.cpus;
  host.processes.memory_bytes = options.memory_bytes;
  host.processes.gpus = options.gpus;
  host.processes.detect_gpus = options.detect_gpus;
  host.processes.first_port = options.first_port;
  std::error_code error;
  const std::string runs = std::filesystem::absolute(options.runs_directory, error).string();
  host.containers = std::make_shared<launch::ContainerHost>(
      launch::ContainerHostOptions{.images_directory = launch::ImagesDirectory(runs)});
  host.executor = options.executor;
  return launch::NewHostLauncher(std::move(host), clock);
}

}  // namespace vernier
