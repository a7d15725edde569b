#pragma once

#include "src/launch/local/host_capacity.h"

// Finds the resources of this host.
namespace vernier::launch {

// CPUs that this process may run on, and memory, within the limits of its control group and that group's ancestors.
// Without GPUs.
HostCapacity DetectHost();

}  // namespace vernier::launch
