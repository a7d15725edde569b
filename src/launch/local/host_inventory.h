#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/launch/local/host_capacity.h"

// What this host has for training jobs.
namespace vernier::launch {

// CPUs that this process may run on and the memory there is, both within the limits of its control group and of those
// around it. No GPUs.
HostCapacity DetectHost();

// Whether the file can be run.
bool IsProgram(const std::string& path);

// The program that PATH knows by the name, absolute.
std::optional<std::string> FindProgram(std::string_view name);

// The supervisor beside this program, or on PATH.  NotFound.
absl::StatusOr<std::string> FindSupervisor();

}  // namespace vernier::launch
