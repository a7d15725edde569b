#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/local/host_capacity.h"

// The NVIDIA devices of this host. A device that is split into instances (MIG) counts as the whole one: whoever wants to
// offer its instances declares them, with their own ids.
namespace vernier::launch {

// How long a driver has to answer. Without its persistence daemon it takes seconds to wake all devices of a large host.
inline constexpr absl::Duration kGpuPatience = absl::Seconds(15);

// The devices that the driver tells: by its library, asked by `supervisor` in a process of its own, or else by nvidia-smi.
// None if neither is there.
//
// A device's id is its UUID. Numbers mean different devices to the driver and to CUDA, which puts the fastest first unless
// CUDA_DEVICE_ORDER says otherwise, leaves out those that a container may not use, and counts anew when a device drops
// out while replicas of an earlier server still hold theirs. A UUID names one device whatever else there is.
// DeadlineExceeded: the driver hangs.
absl::StatusOr<std::vector<GpuDevice>> DetectGpus(const std::string& supervisor,
                                                  absl::Duration patience = kGpuPatience);

// The devices in lines of the form "0, Tesla T4, 15360, GPU-8932f937-…": index, name, memory in MiB, UUID; what is missing
// at the end is not known. Types are the names that people use: T4, A100, H200.
std::vector<GpuDevice> ParseGpuLines(std::string_view lines);

// "T4:0:16GiB", "T4:0" or "0".  InvalidArgument: none of these, or an id that is listed twice.
absl::StatusOr<std::vector<GpuDevice>> ParseDeclaredGpus(const std::vector<std::string>& declared);

}  // namespace vernier::launch
