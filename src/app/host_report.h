#pragma once

#include <string>

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
};

// Looks at the host as a server started here and now would. May take as long as a driver has to answer; changes nothing.
HostReport ExamineHost();

}  // namespace vernier::app
