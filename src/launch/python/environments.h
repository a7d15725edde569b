#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/environment.h"

// Python environments for training jobs: one for each set of packages, made once on this host.
namespace vernier::launch {

// A named interpreter with what it has installed: a runtime version, in the words of AI Platform Training.
struct PythonRuntime {
  std::string python = "python3";  // A path, or what PATH knows.
  // Folder of wheels that is asked instead of an index; empty: pip's own configuration.
  std::string wheels;
  friend bool operator==(const PythonRuntime&, const PythonRuntime&) = default;
};

// What a program is to find installed.
struct EnvironmentRequest {
  PythonRuntime runtime;
  std::vector<std::string> packages;  // As PythonProgram's; paths are absolute.
  std::string directory;              // What relative paths of packages are below.
};

struct EnvironmentState {
  enum class Phase { kReady, kPreparing, kFailed };
  Phase phase = Phase::kPreparing;
  std::string python;  // When ready: its interpreter.
  std::string reason;  // When failed: the installer's last lines.
};

// Makes and keeps them in <directory>/<hash of what goes into them>, each by an installer that outlives this process. Two
// that ask for the same get the same. Not thread-safe.
class PythonEnvironments {
 public:
  // `supervisor`: the program that looks after an installer as after a replica. `environment`: what that starts with.
  PythonEnvironments(std::string directory, std::string supervisor, Environment environment);

  // The name of the environment: a hash of what goes into it, so that files are read. Thread-safe.
  // NotFound: a package that is a path and is not there.
  static absl::StatusOr<std::string> Name(const EnvironmentRequest& request);

  // Begins to make the environment of that name if there is none. One that failed before `since` is made anew. The time of
  // its folder is when it was asked for last.
  // Unavailable: the folder cannot be written.
  absl::Status Prepare(const std::string& name,
                       const EnvironmentRequest& request,
                       absl::Time since) const;

  // How it is by now.  REQUIRES: it was prepared.
  EnvironmentState Check(const std::string& name) const;
  // What its installer printed last; empty: nothing by now.  REQUIRES: it was prepared.
  std::string LastLine(const std::string& name) const;
  // Puts a copy of all that its installer printed into the folder, which is made.
  void CopyOutput(const std::string& name, const std::string& folder) const;

 private:
  absl::Status Begin(const EnvironmentRequest& request, const std::string& folder) const;

  const std::string directory_;
  const std::string supervisor_;
  const Environment environment_;
};

}  // namespace vernier::launch
