#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "src/launch/slurm/cluster.h"
#include "vernier/core/clock.h"

namespace vernier::launch::slurm {

// One thing that was looked at, for people.
struct Finding {
  std::string name;  // "clients", "controller", "nodes", "jobs", "shared".
  bool is_ok = true;
  std::string found;
  std::string advice;  // Empty: there is nothing to do.
};

// Looks whether trials would run on the cluster: Slurm's programs, its controller, the names of GPUs, whether a job of
// this user is accepted, and whether a node sees the shared folder. For the last, a job of one CPU is submitted and waited
// for as long as `patience`. Leaves nothing behind.
std::vector<Finding> ExamineCluster(const ClusterOptions& cluster,
                                    const Clock& clock,
                                    absl::Duration patience);

}  // namespace vernier::launch::slurm
