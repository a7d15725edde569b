#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/launch/container/engine.h"
#include "src/launch/local/process_launcher.h"
#include "src/launch/python/environments.h"
#include "vernier/core/clock.h"
#include "vernier/core/executor.h"
#include "vernier/launcher.h"

namespace vernier::launch {

struct HostLauncherOptions {
  ProcessLauncherOptions processes;
  // None: jobs with an image are refused.
  std::shared_ptr<ContainerHost> containers;      // With who asks it beside the launcher.
  std::map<std::string, PythonRuntime> runtimes;  // As PythonLauncherOptions::runtimes.
  Executor* executor = nullptr;                   // As PythonLauncherOptions::executor.
};

// What runs gangs on this host: processes, below what fetches images, below what installs Python packages. These are kept
// in the folder of the runs.  Errors: as NewProcessLauncher.
absl::StatusOr<std::unique_ptr<Launcher>> NewHostLauncher(HostLauncherOptions options,
                                                          const Clock& clock);

// Where images are kept that are files.
std::string ImagesDirectory(const std::string& runs_directory);

}  // namespace vernier::launch
