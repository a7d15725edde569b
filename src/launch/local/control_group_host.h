#pragma once

#include <string>
#include <vector>

// Where this host lets control groups be made for replicas (src/launch/control_group.h), and for what.
//
// Version 2 divides a group only if no process is in it ("no internal processes"), so whoever starts in a group that it
// was given moves itself into a leaf of that first, as systemd asks of its services (systemd, docs/CGROUP_DELEGATION.md).
// A group in which others are is never touched. Version 1 has no such rule.
namespace vernier::launch {

struct ControlGroupOptions {
  // The group below which replicas get theirs, as /proc/PID/cgroup names groups: "/vernier.slice/jobs.service". Empty: the
  // one this process is in. "none": nowhere.
  std::string group;
  // Where the cgroup file system is, and what tells the group of this process.
  std::string root = "/sys/fs/cgroup";
  std::string own = "/proc/self/cgroup";
};

// What can be done there.
struct ControlGroupHost {
  // Folders in each of which a replica gets a group; none: limits are only accounted.
  std::vector<std::string> parents;
  bool limits_memory = false;
  bool limits_cpus = false;
  std::string obstacle;  // Why not both; empty if both.
  std::string leaf;      // Of the only parent, for this process to move to; empty: no need.
  // What must be written to the parent's cgroup.subtree_control: "+cpu +memory"; empty: nothing.
  std::string to_enable;
};

// Looks, changes nothing.
ControlGroupHost ExamineControlGroups(const ControlGroupOptions& options);

// As ExamineControlGroups, and does what the groups of replicas need first: moves this process, enables controllers.
ControlGroupHost PrepareControlGroups(const ControlGroupOptions& options);

// "memory and CPUs", "memory only: …", "accounted only: …": for people.
std::string DescribeLimits(const ControlGroupHost& host);

// The groups for the replica whose folder this is: in each parent one of the same name, which no other replica's has.
std::vector<std::string> ControlGroupsOf(const ControlGroupHost& host,
                                         const std::string& directory);

}  // namespace vernier::launch
