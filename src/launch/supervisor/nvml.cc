#include "src/launch/supervisor/nvml.h"

#include <dlfcn.h>

#include <array>

namespace vernier::launch {
namespace {

// The part of NVML that is used, declared here so that Vernier builds without NVIDIA's headers and runs without its
// driver. Names, types and sizes: NVML API Reference Guide (docs.nvidia.com/deploy/nvml-api), "Initialization and
// Cleanup" and "Device Queries".
using Result = int;             // nvmlReturn_t
using Device = struct Opaque*;  // nvmlDevice_t
struct Memory {                 // nvmlMemory_t, in bytes.
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Utilization {  // nvmlUtilization_t, in per cent of the driver's last sample period.
  unsigned gpu;
  unsigned memory;
};
constexpr Result kSuccess = 0;  // NVML_SUCCESS
// NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr unsigned kTextSize = 96;

struct Library {
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  Result (*count)(unsigned* count) = nullptr;
  Result (*handle)(unsigned index, Device* device) = nullptr;
  Result (*name)(Device device, char* text, unsigned size) = nullptr;
  Result (*uuid)(Device device, char* text, unsigned size) = nullptr;
  Result (*memory)(Device device, Memory* memory) = nullptr;
  Result (*utilization)(Device device, Utilization* utilization) = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Loads the library, if all functions are there. It is never unloaded: the process has no other task.
std::optional<Library> Load() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  Library nvml;
  const bool complete = library != nullptr && Find(library, "nvmlInit_v2", nvml.init) &&
                        Find(library, "nvmlShutdown", nvml.shutdown) &&
                        Find(library, "nvmlDeviceGetCount_v2", nvml.count) &&
                        Find(library, "nvmlDeviceGetHandleByIndex_v2", nvml.handle) &&
                        Find(library, "nvmlDeviceGetName", nvml.name) &&
                        Find(library, "nvmlDeviceGetUUID", nvml.uuid) &&
                        Find(library, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
                        Find(library, "nvmlDeviceGetUtilizationRates", nvml.utilization);
  return complete ? std::optional<Library>(nvml) : std::nullopt;
}

// Returns the text of a query, empty if it fails.
std::string Text(Result (*query)(Device, char*, unsigned), Device device) {
  std::array<char, kTextSize> text = {};
  return query(device, text.data(), kTextSize) == kSuccess ? text.data() : "";
}

std::string Line(const Library& nvml, unsigned index, Device device) {
  Memory memory{};
  const bool knows_memory = nvml.memory(device, &memory) == kSuccess;
  return std::to_string(index) + ", " + Text(nvml.name, device) + ", " +
         std::to_string(knows_memory ? memory.total >> 20 : 0) + ", " + Text(nvml.uuid, device) +
         "\n";
}

std::string UseLine(const Library& nvml, unsigned index, Device device) {
  Memory memory{};
  Utilization utilization{};
  const bool knows_memory = nvml.memory(device, &memory) == kSuccess;
  const bool knows_utilization = nvml.utilization(device, &utilization) == kSuccess;
  return std::to_string(index) + ", " + Text(nvml.uuid, device) + ", " +
         (knows_utilization ? std::to_string(utilization.gpu) : "-") + ", " +
         std::to_string(knows_memory ? memory.used : 0) + ", " +
         std::to_string(knows_memory ? memory.total : 0) + "\n";
}

// A line for each device that this process may use, without those that have fallen off the bus:
// nvmlDeviceGetHandleByIndex fails for both. Nothing if the driver does not answer.
std::optional<std::string> LinesOf(const Library& nvml,
                                   std::string (*line)(const Library&, unsigned, Device)) {
  unsigned count = 0;
  if (nvml.count(&count) != kSuccess) return std::nullopt;
  std::string lines;
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    if (nvml.handle(index, &device) == kSuccess) lines += line(nvml, index, device);
  }
  return lines;
}

}  // namespace

std::optional<std::string> ListGpus() {
  const std::optional<Library> nvml = Load();
  if (!nvml.has_value() || nvml->init() != kSuccess) return std::nullopt;
  std::optional<std::string> lines = LinesOf(*nvml, &Line);
  nvml->shutdown();
  return lines;
}

void WatchGpus(const std::function<bool(const std::string&)>& take) {
  const std::optional<Library> nvml = Load();
  if (!nvml.has_value() || nvml->init() != kSuccess) return;
  for (bool wanted = true; wanted;) {
    const std::optional<std::string> lines = LinesOf(*nvml, &UseLine);
    wanted = lines.has_value() && take(*lines);
  }
  nvml->shutdown();
}

}  // namespace vernier::launch
