#pragma once

#include <optional>

#include "vernier/core/training_job.h"
#include "vernier/core/trial.h"

namespace vernier::jobs {

// How much of what its job asks for a trial used, as shares of 1. More than 1 is possible where nothing holds replicas to
// their share. Of GPUs only is known how long they were held.
struct Utilization {
  std::optional<double>
      cpus;  // CPU time of all replicas, over the CPUs they asked for as long as they ran.
  std::optional<double>
      memory;  // Of the replica that came nearest: its peak over what it asked for.
  friend bool operator==(const Utilization&, const Utilization&) = default;
};

// Of the trial's attempts that have ended; what was not measured is left out.
Utilization UtilizationOf(const TrainingJob& job, const Trial& trial);

}  // namespace vernier::jobs
