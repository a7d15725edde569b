#pragma once

#include <optional>

#include "vernier/core/training_job.h"
#include "vernier/core/trial.h"

namespace vernier::jobs {

// The fraction of the requested resources that a trial used. Above 1 if nothing enforced the limits.
struct Utilization {
  // CPU time of all replicas over the CPUs that they asked for, times their running time.
  std::optional<double> cpus;
  // Peak over requested memory, of the replica with the highest ratio.
  std::optional<double> memory;
  // Utilization of its GPUs by samples: mean over replicas and time, and the highest of any device.
  std::optional<double> gpus;
  std::optional<double> peak_gpus;
  // Peak over total memory, of the device with the highest ratio.
  std::optional<double> gpu_memory;
  friend bool operator==(const Utilization&, const Utilization&) = default;
};

// Computed over the trial's ended attempts; values that were not measured are unset.
Utilization UtilizationOf(const TrainingJob& job, const Trial& trial);

}  // namespace vernier::jobs
