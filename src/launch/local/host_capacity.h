#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vernier::launch {

struct GpuDevice {
  std::string id;                 // As CUDA_VISIBLE_DEVICES takes it.
  std::string type;               // "T4"; empty: of no particular type.
  std::int64_t memory_bytes = 0;  // 0: not known; the device cannot be shared then.
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct HostCapacity {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::vector<GpuDevice> gpus;
};

// What becomes of a gang that asks for more CPUs or memory than the empty host has.
enum class Fitting {
  kStrict,  // It is refused.
  // It is taken in and gets the host, or its part of it where its study runs several at once: all of its replicas' CPUs,
  // or memory, are scaled down by one factor. Devices are never scaled. For trying on a laptop what was written for a
  // cluster.
  kScaled,
};

}  // namespace vernier::launch
