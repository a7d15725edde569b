#include "src/jobs/utilization.h"

#include <algorithm>
#include <string>

#include "absl/time/time.h"

namespace vernier::jobs {
namespace {

// What each replica of the role asks for; nothing if the job has no such role.
const Resources* AskedBy(const TrainingJob& job, const std::string& role_name) {
  for (const auto& [role, replica] : job.replicas) {
    if (RoleName(role, job) == role_name) return &replica.resources;
  }
  return nullptr;
}

}  // namespace

Utilization UtilizationOf(const TrainingJob& job, const Trial& trial) {
  double used = 0;
  double asked = 0;
  Utilization utilization;
  for (const Attempt& attempt : trial.attempts) {
    if (!attempt.started.has_value() || !attempt.ended.has_value()) continue;
    const double seconds = absl::ToDoubleSeconds(*attempt.ended - *attempt.started);
    for (const ReplicaResult& replica : attempt.replicas) {
      const Resources* const resources = AskedBy(job, replica.role);
      if (resources == nullptr) continue;
      if (resources->cpus > 0) used += absl::ToDoubleSeconds(replica.cpu_time);
      asked += resources->cpus * seconds;
      if (resources->memory_bytes == 0 || replica.peak_memory_bytes == 0) continue;
      utilization.memory = std::max(utilization.memory.value_or(0),
                                    static_cast<double>(replica.peak_memory_bytes) /
                                        static_cast<double>(resources->memory_bytes));
    }
  }
  if (used > 0 && asked > 0) utilization.cpus = used / asked;
  return utilization;
}

}  // namespace vernier::jobs
