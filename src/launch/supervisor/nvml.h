#pragma once

#include <functional>
#include <optional>
#include <string>

namespace vernier::launch {

// Lists the NVIDIA devices of this host as the driver's library reports them, a line for each, in the format of
// `nvidia-smi --query-gpu=index,name,memory.total,uuid --format=csv,noheader,nounits`:
//
//   0, Tesla T4, 15360, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6
//
// Nothing if the library is missing or does not work. May take seconds, or for ever if the driver is in trouble.
std::optional<std::string> ListGpus();

// Passes the use of the devices to `take`, repeatedly, until that returns false. A line for each device: index, UUID,
// per cent of the driver's last sample period in which it computed ("-" if unknown), bytes of its memory in use, and
// total bytes:
//
//   0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, 37, 1073741824, 16106127360
//
// Returns at once if the library is missing.
void WatchGpus(const std::function<bool(const std::string&)>& take);

}  // namespace vernier::launch
