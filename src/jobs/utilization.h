#pragma once

#include <optional>

#include "vernier/core/training_job.h"
#include "vernier/core/trial.h"

namespace vernier::jobs {

// How much of what its job asks for a trial used, as shares of 1. More than 1 is possible where nothing holds replicas to
// their share.
struct Utilization {
  // CPU time of all replicas, over the CPUs they asked for as long as they ran.
  std::optional<double> cpus;
  // Of the replica that came nearest: its peak over what it asked for.
  std::optional<double> memory;
  // Of its GPUs, by samples: mean over replicas and time, and the highest of any device.
  std::optional<double> gpus;
  std::optional<double> peak_gpus;
  // Of the device that came nearest: the most that was in use, over what it has.
  std::optional<double> gpu_memory;
  friend bool operator==(const Utilization&, const Utilization&) = default;
};

// Of the trial's attempts that have ended; what was not measured is left out.
Utilization UtilizationOf(const TrainingJob& job, const Trial& trial);

}  // namespace vernier::jobs
