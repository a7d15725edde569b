#pragma once

#include <map>
#include <memory>
#include <string>

#include "src/launch/python/environments.h"
#include "vernier/core/clock.h"
#include "vernier/core/executor.h"
#include "vernier/launcher.h"

namespace vernier::launch {

struct PythonLauncherOptions {
  std::string environments_directory;  // Absolute; created on first use.
  std::string supervisor;              // As ProcessLauncherOptions::supervisor, not empty.
  // As ProcessLauncherOptions::environment, for installers.
  Environment environment = OwnEnvironment({"*"});
  // By the name that a job gives as python.runtime. A job without one gets "default", or python3 if there is no
  // "default".
  std::map<std::string, PythonRuntime> runtimes;
  // Hashes packages, which may take long; must outlive that work. Null: callers wait for the hash.
  Executor* executor = nullptr;
};

// Wraps a launcher so that the Python packages of a gang are installed before `launcher` places it. If an environment
// was removed in between, it is made again before the start; the gang is STARTING meanwhile, and FAILS (USER_ERROR) if
// that is impossible. Not thread-safe, except for CheckFits, Nodes, Queue and WhyHeld.
std::unique_ptr<Launcher> NewPythonLauncher(std::unique_ptr<Launcher> launcher,
                                            PythonLauncherOptions options,
                                            const Clock& clock);

}  // namespace vernier::launch
