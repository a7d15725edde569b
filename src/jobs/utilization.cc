#include "src/jobs/utilization.h"

#include <algorithm>
#include <string>

#include "absl/time/time.h"

namespace vernier::jobs {
namespace {

// The resources of each replica of the role; null if the job has no such role.
const Resources* AskedBy(const TrainingJob& job, const std::string& role_name) {
  for (const auto& [role, replica] : job.replicas) {
    if (RoleName(role, job) == role_name) return &replica.resources;
  }
  return nullptr;
}

double Seconds(const Attempt& attempt, const ReplicaResult& replica) {
  const absl::Time started = replica.started.value_or(*attempt.started);
  const absl::Time ended = replica.ended.value_or(*attempt.ended);
  return std::max(0.0, absl::ToDoubleSeconds(ended - started));
}

void Raise(std::optional<double>& peak, double value) { peak = std::max(peak.value_or(0), value); }

// Accumulates the mean over all samples.
class GpuMean {
 public:
  void Add(const GpuUse& use, Utilization& utilization) {
    samples_ += static_cast<double>(use.samples);
    sum_ += use.utilization * static_cast<double>(use.samples);
    utilization.gpus = sum_ / samples_;
    Raise(utilization.peak_gpus, use.peak_utilization);
    if (use.device_memory_bytes == 0) return;
    Raise(
        utilization.gpu_memory,
        static_cast<double>(use.peak_memory_bytes) / static_cast<double>(use.device_memory_bytes));
  }

 private:
  double samples_ = 0;
  double sum_ = 0;
};

}  // namespace

Utilization UtilizationOf(const TrainingJob& job, const Trial& trial) {
  double used = 0;
  double asked = 0;
  GpuMean gpus;
  Utilization utilization;
  for (const Attempt& attempt : trial.attempts) {
    // A running attempt has no record of its use yet.
    if (!attempt.started.has_value() || !attempt.ended.has_value()) continue;
    for (const ReplicaResult& replica : attempt.replicas) {
      if (replica.gpu.has_value() && replica.gpu->samples > 0) gpus.Add(*replica.gpu, utilization);
      const Resources* const resources = AskedBy(job, replica.role);
      if (resources == nullptr) continue;
      // A replica that asked for no CPUs would make the ratio exceed 1.
      if (resources->cpus > 0) used += absl::ToDoubleSeconds(replica.cpu_time);
      asked += resources->cpus * Seconds(attempt, replica);
      if (resources->memory_bytes == 0 || replica.peak_memory_bytes == 0) continue;
      Raise(utilization.memory,
            static_cast<double>(replica.peak_memory_bytes) /
                static_cast<double>(resources->memory_bytes));
    }
  }
  if (used > 0 && asked > 0) utilization.cpus = used / asked;
  return utilization;
}

}  // namespace vernier::jobs
