#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/launch/container/engine.h"

// Describes for people what this host offers to training jobs.
namespace vernier::app {

// The interpreter that jobs find as `python3`, and the packages that training programs most often need.
struct PythonReport {
  std::string path;  // Empty: none on PATH.
  // "3.11.2; numpy 1.24.2, torch 1.13.1; no tensorflow"; or why it cannot be run.
  std::string found;
  bool is_broken = false;  // It cannot be run, or has a package that cannot be imported.
};

struct HostReport {
  // "8 CPUs, 31.3 GiB of memory": available to trials.
  std::string capacity;
  // The path of the supervisor program, or what is missing.
  std::string supervisor;
  bool has_supervisor = false;
  // "2 found: T4 15GiB, T4 15GiB"; "none found".
  std::string gpus;
  bool has_gpus = false;
  bool driver_hangs = false;
  // "memory and CPUs"; "accounted only: …, and why".
  std::string limits;
  bool is_limited = false;  // Both are enforced.
  // "podman 4.3.1 (/usr/bin/podman), which …"; or what is missing.
  std::string containers;
  bool runs_containers = false;
};

// One thing that was looked at on a cluster.
struct ClusterReport {
  std::string name;   // Of the cluster.
  std::string check;  // "clients", "controller", "nodes", "jobs", "shared".
  bool is_ok = true;
  std::string found;
  std::string advice;
};

// Examines the clusters of a configuration file. Submits a job of one CPU to each, and waits for it for half a minute at
// most.  Errors: as LoadConfiguration and ServerOptionsOf.
absl::StatusOr<std::vector<ClusterReport>> ExamineClusters(const std::string& configuration);

// Describes the engine of container images. May take as long as the engine takes to answer.  Errors: as ContainerHost.
absl::StatusOr<std::string> DescribeContainers(const launch::ContainerHostOptions& options);

// Examines python3, and imports the packages, each in a process of its own: takes some seconds for large ones.
PythonReport ExaminePython();

// Examines the host as a server started here would. May take as long as a driver takes to answer; changes nothing.
HostReport ExamineHost();

}  // namespace vernier::app
