#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/local/host_capacity.h"

// Finds the NVIDIA devices of this host. A device that is split into instances (MIG) counts as one whole device; to
// offer its instances, declare them with their own ids.
namespace vernier::launch {

// Time that a driver has to answer. A choice: without its persistence daemon it takes seconds to wake all devices of a
// large host.
inline constexpr absl::Duration kGpuPatience = absl::Seconds(15);

// The devices that the driver reports, through its library, which `supervisor` asks in a separate process, or else
// through nvidia-smi. None if neither exists.
//
// A device's id is its UUID. Indices are ambiguous: CUDA puts the fastest device first unless CUDA_DEVICE_ORDER says
// otherwise, skips those that a container may not use, and renumbers when a device fails while replicas of an earlier
// server still hold theirs. A UUID always names the same device.
// DeadlineExceeded: the driver hangs.
absl::StatusOr<std::vector<GpuDevice>> DetectGpus(const std::string& supervisor,
                                                  absl::Duration patience = kGpuPatience);

// Parses lines of the form "0, Tesla T4, 15360, GPU-8932f937-…": index, name, memory in MiB, UUID; fields may be
// missing at the end. Types are the names that people use: T4, A100, H200.
std::vector<GpuDevice> ParseGpuLines(std::string_view lines);

// Parses "T4:0:16GiB", "T4:0" or "0".  InvalidArgument: another form, or an id that is listed twice.
absl::StatusOr<std::vector<GpuDevice>> ParseDeclaredGpus(const std::vector<std::string>& declared);

}  // namespace vernier::launch
