#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

// Finds and describes the program that runs container images on this host.
namespace vernier::launch {

enum class EngineKind { kPodman, kDocker, kApptainer };
// In order of preference.
inline constexpr std::array kEngineKinds = {
    EngineKind::kPodman, EngineKind::kDocker, EngineKind::kApptainer};

// "podman", "docker", "apptainer".
std::string EngineName(EngineKind kind);

// A working engine and its capabilities.
struct ContainerEngine {
  EngineKind kind = EngineKind::kPodman;
  std::string program;  // Absolute path of its client.
  std::string version;
  // Arguments from the server's configuration, put before the image of each container.
  std::vector<std::string> arguments;
  // "UID:GID" in a container that is this process's user outside. Empty: apptainer, which always keeps the user.
  std::string user;
  double cpus = 0;  // Can limit a container to fewer CPUs than these; 0: cannot limit CPUs.
  bool limits_memory = false;
  // Can run an init process before the program, which forwards signals and reaps children.
  bool has_init = false;
  std::string images_directory;  // Absolute path of apptainer's images, which are files.
  friend bool operator==(const ContainerEngine&, const ContainerEngine&) = default;
};

// "podman 4.3.1 (/usr/bin/podman), which holds containers to memory and CPUs".
std::string DescribeEngine(const ContainerEngine& engine);

// The folder of images that are files (apptainer's), in the folder of runs.
std::string ImagesDirectory(const std::string& runs_directory);

struct ContainerHostOptions {
  bool is_enabled = true;
  // Unset: the first of podman, docker and apptainer that is on PATH.
  std::optional<EngineKind> kind;
  std::vector<std::string> arguments;
  std::string images_directory;  // Absolute; made on demand.
};

// Finds this host's engine on first use, and remembers it. Thread-safe.
class ContainerHost {
 public:
  explicit ContainerHost(ContainerHostOptions options) : options_(std::move(options)) {}

  // Returns the engine. Queries its capabilities until it has answered once, which takes seconds if it hangs.
  // NotFound: there is none; the message says what to install.  Unavailable: it does not answer; the message is its
  // own.
  absl::StatusOr<ContainerEngine> Engine();

 private:
  const ContainerHostOptions options_;
  absl::Mutex mu_;
  std::optional<ContainerEngine> engine_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::launch
