#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/launch/container/engine.h"

// What this host offers to training jobs, in words for people.
namespace vernier::app {

struct HostReport {
  // "2 found: T4 15GiB, T4 15GiB"; "none found".
  std::string gpus;
  bool has_gpus = false;
  bool driver_hangs = false;
  // "memory and CPUs"; "accounted only: …, and why".
  std::string limits;
  bool is_limited = false;  // Both are.
  // "podman 4.3.1 (/usr/bin/podman), which …"; or what is missing.
  std::string containers;
  bool runs_containers = false;
};

// What would run container images here, in words. May take as long as an engine has to answer. Errors: as ContainerHost.
absl::StatusOr<std::string> DescribeContainers(const launch::ContainerHostOptions& options);

// Looks at the host as a server started here and now would. May take as long as a driver has to answer; changes nothing.
HostReport ExamineHost();

}  // namespace vernier::app
