#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/environment.h"

// Python environments for training jobs: one for each set of packages, made once on this host
// (docs/adr/0023-a-python-environment-for-each-set-of-packages.md).
namespace vernier::launch {

// An interpreter with its installed packages: a "runtime version" of AI Platform Training.
struct PythonRuntime {
  std::string python = "python3";  // A path, or a name on PATH.
  // Folder of wheels to use instead of an index; empty: pip's own configuration decides.
  std::string wheels;
  friend bool operator==(const PythonRuntime&, const PythonRuntime&) = default;
};

// The packages that a program needs.
struct EnvironmentRequest {
  PythonRuntime runtime;
  std::vector<std::string> packages;  // As PythonProgram's; paths are absolute.
  std::string directory;              // Base of relative paths of packages.
};

struct EnvironmentState {
  enum class Phase { kReady, kPreparing, kFailed };
  Phase phase = Phase::kPreparing;
  std::string python;  // When ready: its interpreter.
  std::string reason;  // When failed: the installer's last lines.
};

// Makes environments in <directory>/<hash of their content>, each by an installer that outlives this process. Equal
// requests share an environment. Not thread-safe.
class PythonEnvironments {
 public:
  // `supervisor`: the program that supervises an installer like a replica. `environment`: for the installer.
  PythonEnvironments(std::string directory, std::string supervisor, Environment environment);

  // The name of the environment: a hash of its content, for which the packages' files are read. Thread-safe.
  // NotFound: a package is a path that does not exist.
  static absl::StatusOr<std::string> Name(const EnvironmentRequest& request);

  // Starts making the environment unless it exists. One that failed before `since` is made anew. Sets the folder's
  // time, by which cleaning up knows when it was last used.
  // Unavailable: the folder cannot be written.
  absl::Status Prepare(const std::string& name,
                       const EnvironmentRequest& request,
                       absl::Time since) const;

  // The current state.  REQUIRES: Prepare was called.
  EnvironmentState Check(const std::string& name) const;
  // The last line of the installer; empty: none yet.  REQUIRES: Prepare was called.
  std::string LastLine(const std::string& name) const;
  // Copies the output of the installer into the folder, which is created.
  void CopyOutput(const std::string& name, const std::string& folder) const;

 private:
  absl::Status Begin(const EnvironmentRequest& request, const std::string& folder) const;

  const std::string directory_;
  const std::string supervisor_;
  const Environment environment_;
};

}  // namespace vernier::launch
