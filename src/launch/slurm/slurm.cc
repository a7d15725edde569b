#include "src/launch/slurm/slurm.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace vernier::launch::slurm {

std::int64_t WholeCpus(const Component& component) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(component.cpus)));
}

std::int64_t MegabytesPerCpu(const Component& component) {
  const std::int64_t megabytes = (component.memory_bytes + kMegabyte - 1) / kMegabyte;
  const std::int64_t cpus = WholeCpus(component);
  return (megabytes + cpus - 1) / cpus;
}

std::int64_t WholeMinutes(absl::Duration time_limit) {
  return static_cast<std::int64_t>(std::ceil(absl::ToDoubleMinutes(time_limit)));
}

std::string GpuText(const Component& component) {
  return component.gpu_type.empty() ? fmt::format("{}", component.gpus)
                                    : fmt::format("{}:{}", component.gpu_type, component.gpus);
}

}  // namespace vernier::launch::slurm
