#pragma once

#include <string>
#include <vector>

// Finds the place where this process may make control groups for replicas (src/launch/control_group.h), and the limits
// that they can enforce there.
//
// Version 2 allows controllers below a group only if no process is in that group itself ("no internal process
// constraint", cgroup-v2.rst). So a service moves itself into a leaf of its own group first, as systemd asks of
// services with delegation (systemd, docs/CGROUP_DELEGATION.md). A group that holds other processes is never changed.
// Version 1 has no such rule.
namespace vernier::launch {

struct ControlGroupOptions {
  // The group below which replicas get their groups, named as in /proc/PID/cgroup: "/vernier.slice/jobs.service".
  // Empty: the group of this process. "none": no groups are made.
  std::string group;
  // The mount point of the cgroup file system, and the file that names the group of this process. Tests change them.
  std::string root = "/sys/fs/cgroup";
  std::string own = "/proc/self/cgroup";
};

// The place for groups on this host, and the limits that work there.
struct ControlGroupHost {
  // Folders in each of which every replica gets a group; empty: usage is accounted without limits.
  std::vector<std::string> parents;
  bool limits_memory = false;
  bool limits_cpus = false;
  std::string obstacle;  // Why a limit is missing; empty if both work.
  std::string leaf;  // Leaf of the only parent, to which this process must move; empty: no need.
  // Text to write to the parent's cgroup.subtree_control: "+cpu +memory"; empty: nothing.
  std::string to_enable;
};

// Determines the place without changing anything.
ControlGroupHost ExamineControlGroups(const ControlGroupOptions& options);

// As ExamineControlGroups, and then prepares the place: moves this process, enables controllers.
ControlGroupHost PrepareControlGroups(const ControlGroupOptions& options);

// Describes the limits for people: "memory and CPUs", "memory only: …", "accounted only: …".
std::string DescribeLimits(const ControlGroupHost& host);

// The groups of the replica in this folder: one in each parent, under a name that no other replica has.
std::vector<std::string> ControlGroupsOf(const ControlGroupHost& host,
                                         const std::string& directory);

}  // namespace vernier::launch
