#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/launch/local/capacity_book.h"

// What this host has for training jobs.
namespace vernier::launch {

// CPUs that this process may run on and the memory there is, both within the limits of its cgroup. No GPUs.
HostCapacity DetectHost();

// The NVIDIA devices that nvidia-smi lists; none if there is no such program, or it does not answer within seconds.
std::vector<GpuDevice> DetectGpus();

// The devices in the output of `nvidia-smi --query-gpu=index,name --format=csv,noheader`: "0, Tesla T4" is the T4 with
// id 0. Types are the names that people use: T4, A100, H200.
std::vector<GpuDevice> ParseNvidiaSmi(std::string_view output);

// "T4:0" or "0".  InvalidArgument: an empty id, or one that is listed twice.
absl::StatusOr<std::vector<GpuDevice>> ParseDeclaredGpus(const std::vector<std::string>& declared);

// Whether the file can be run.
bool IsProgram(const std::string& path);

// The supervisor beside this program, or on PATH.  NotFound.
absl::StatusOr<std::string> FindSupervisor();

}  // namespace vernier::launch
