#pragma once

#include <functional>
#include <optional>
#include <string>

namespace vernier::launch {

// The NVIDIA devices of this host as the driver's library tells them, a line for each, in the form of
// `nvidia-smi --query-gpu=index,name,memory.total,uuid --format=csv,noheader,nounits`:
//
//   0, Tesla T4, 15360, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6
//
// Nothing if there is no such library, or it does not work. May take seconds; where the driver is in trouble, for ever.
std::optional<std::string> ListGpus();

// Gives what the devices do to `take`, again and again, until that answers false; a line for each device: index, UUID, per
// cent of the time since the last look in which it computed ("-": not known), bytes of its memory in use, and of all of it:
//
//   0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, 37, 1073741824, 16106127360
//
// Returns at once if there is no such library.
void WatchGpus(const std::function<bool(const std::string&)>& take);

}  // namespace vernier::launch
