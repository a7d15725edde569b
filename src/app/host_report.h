#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/launch/container/engine.h"

// What this host offers to training jobs, in words for people.
namespace vernier::app {

// The interpreter that jobs find as `python3`, and the packages that training programs most often need.
struct PythonReport {
  std::string path;  // Empty: there is none on PATH.
  // "3.11.2; numpy 1.24.2, torch 1.13.1; no tensorflow"; or why it cannot be run.
  std::string found;
  bool is_broken = false;  // It cannot be run, or has a package that cannot be imported.
};

struct HostReport {
  // "8 CPUs, 31.3 GiB of memory": what trials may use.
  std::string capacity;
  // The path of the program that looks after replicas; or what is missing.
  std::string supervisor;
  bool has_supervisor = false;
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

// Imports the packages, each in a process of its own: takes some seconds where they are large.
PythonReport ExaminePython();

// Looks at the host as a server started here and now would. May take as long as a driver has to answer; changes nothing.
HostReport ExamineHost();

}  // namespace vernier::app
