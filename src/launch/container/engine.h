#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

// What runs container images on this host.
namespace vernier::launch {

enum class EngineKind { kPodman, kDocker, kApptainer };
// In the order in which they are looked for.
inline constexpr std::array kEngineKinds = {
    EngineKind::kPodman, EngineKind::kDocker, EngineKind::kApptainer};

// "podman", "docker", "apptainer".
std::string EngineName(EngineKind kind);

// An engine that answers, and what it can do.
struct ContainerEngine {
  EngineKind kind = EngineKind::kPodman;
  std::string program;  // Its client; absolute.
  std::string version;
  // For each container, before the image; those of the server's configuration.
  std::vector<std::string> arguments;
  // "UID:GID" in a container, who is this process's user outside. Empty: always so.
  std::string user;
  double cpus = 0;  // It can hold a container to fewer CPUs than these; 0: to none.
  bool limits_memory = false;
  // It can put a process before the program that passes signals on and reaps.
  bool has_init = false;
  std::string images_directory;  // Apptainer's images, which are files; absolute.
  friend bool operator==(const ContainerEngine&, const ContainerEngine&) = default;
};

// "podman 4.3.1 (/usr/bin/podman), which holds containers to memory and CPUs".
std::string DescribeEngine(const ContainerEngine& engine);

struct ContainerHostOptions {
  bool is_enabled = true;
  // Unset: the first of podman, docker and apptainer that is on PATH.
  std::optional<EngineKind> kind;
  std::vector<std::string> arguments;
  std::string images_directory;  // Absolute; made when it is needed.
};

// Knows this host's engine, once somebody has asked for it. Thread-safe.
class ContainerHost {
 public:
  explicit ContainerHost(ContainerHostOptions options) : options_(std::move(options)) {}

  // The engine. Asks it what it can do, until it has answered once: seconds, should it hang.
  // NotFound: there is none, and what would do.  Unavailable: it does not answer, in its own words.
  absl::StatusOr<ContainerEngine> Engine();

 private:
  const ContainerHostOptions options_;
  absl::Mutex mu_;
  std::optional<ContainerEngine> engine_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::launch
