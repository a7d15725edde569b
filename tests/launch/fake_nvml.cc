// A libnvidia-ml.so.1 for tests: three devices, of which the second may not be used. $FAKE_NVML says how it behaves:
// "works", "empty" (no device), "fails" (no driver) or "hangs".
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kSuccess = 0;
constexpr int kNoPermission = 4;
constexpr int kDriverNotLoaded = 9;

bool Behaves(std::string_view how) {
  const char* const told = std::getenv("FAKE_NVML");
  return told != nullptr && told == how;
}

struct Device {
  const char* name;
  unsigned long long memory_mib;
};
const Device kDevices[] = {{"Tesla T4", 15360}, {"Tesla T4", 15360}, {"NVIDIA H200", 143771}};

}  // namespace

extern "C" {

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

int nvmlInit_v2() {
  while (Behaves("hangs")) pause();
  return Behaves("fails") ? kDriverNotLoaded : kSuccess;
}
int nvmlShutdown() { return kSuccess; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = Behaves("empty") ? 0 : 3;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, const Device** device) {
  if (index == 1) return kNoPermission;
  *device = &kDevices[index];
  return kSuccess;
}
int nvmlDeviceGetName(const Device* device, char* text, unsigned size) {
  std::snprintf(text, size, "%s", device->name);
  return kSuccess;
}
int nvmlDeviceGetUUID(const Device* device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-%08d-aaaa", static_cast<int>(device - kDevices));
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(const Device* device, Memory* memory) {
  *memory = {.total = device->memory_mib << 20, .free = 0, .used = device->memory_mib << 18};
  return kSuccess;
}
// A quarter of the time of the first device, three quarters of the third's.
int nvmlDeviceGetUtilizationRates(const Device* device, Utilization* utilization) {
  *utilization = {.gpu = device == kDevices ? 25U : 75U, .memory = 1};
  return kSuccess;
}
}
