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
  std::string environments_directory;  // Absolute; created when the first one is made.
  std::string supervisor;              // As ProcessLauncherOptions::supervisor, found already.
  // As ProcessLauncherOptions::environment, for what installs.
  Environment environment = OwnEnvironment({"*"});
  // By the name that a job gives as python.runtime. A job that names none gets "default"; where there is no "default",
  // python3.
  std::map<std::string, PythonRuntime> runtimes;
  // Where packages are hashed, which may take long; must live until that is done. Null: callers wait for it.
  Executor* executor = nullptr;
};

// A launcher that sees to it that the Python packages of a gang are installed before `launcher` places it. Where somebody
// removed them since, they are installed again before it is started, and the gang is STARTING meanwhile; it FAILS
// (USER_ERROR) if they cannot be. Not thread-safe but for Nodes and Queue.
std::unique_ptr<Launcher> NewPythonLauncher(std::unique_ptr<Launcher> launcher,
                                            PythonLauncherOptions options,
                                            const Clock& clock);

}  // namespace vernier::launch
