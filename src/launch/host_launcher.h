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
  // Null: jobs with an image are refused.
  std::shared_ptr<ContainerHost> containers;      // Shared with the server, which asks it as well.
  std::map<std::string, PythonRuntime> runtimes;  // As PythonLauncherOptions::runtimes.
  Executor* executor = nullptr;                   // As PythonLauncherOptions::executor.
};

// The launcher of this host: processes, wrapped by the launcher that fetches images, wrapped by the one that installs
// Python packages. Images and environments are kept in the folder of the runs.  Errors: as NewProcessLauncher.
absl::StatusOr<std::unique_ptr<Launcher>> NewHostLauncher(HostLauncherOptions options,
                                                          const Clock& clock);

}  // namespace vernier::launch
