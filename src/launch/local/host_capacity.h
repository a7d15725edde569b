#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vernier::launch {

struct GpuDevice {
  std::string id;                 // For CUDA_VISIBLE_DEVICES.
  std::string type;               // "T4"; empty: no particular type.
  std::int64_t memory_bytes = 0;  // 0: not known, and the device cannot be shared.
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct HostCapacity {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::vector<GpuDevice> gpus;
};

// Treatment of a gang that asks for more CPUs or memory than the empty host has.
enum class Fitting {
  kStrict,  // It is refused.
  // It gets the host, or its part of the host if its study runs several trials at once: the CPUs, or the memory, of all
  // its replicas are scaled by one factor. Devices are never scaled. For trying on a laptop what was written for a
  // cluster.
  kScaled,
};

}  // namespace vernier::launch
