#include "src/app/host_report.h"

#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/byte_size.h"
#include "src/core/status.h"
#include "src/launch/local/control_group_host.h"
#include "src/launch/local/gpu_inventory.h"
#include "src/launch/local/host_inventory.h"

namespace vernier::app {
namespace {

std::string Describe(const launch::GpuDevice& gpu) {
  return gpu.memory_bytes > 0 ? fmt::format("{} {}", gpu.type, FormatByteSize(gpu.memory_bytes))
                              : gpu.type;
}

void AddGpus(HostReport& report) {
  // Without the supervisor program nothing runs here; nvidia-smi may still tell.
  const auto gpus = launch::DetectGpus(launch::FindSupervisor().value_or("vernier-supervisor"));
  report.driver_hangs = !gpus.ok();
  if (!gpus.ok()) {
    report.gpus = std::string(gpus.status().message());
    return;
  }
  std::vector<std::string> descriptions;
  for (const launch::GpuDevice& gpu : *gpus) descriptions.push_back(Describe(gpu));
  report.has_gpus = !gpus->empty();
  report.gpus = report.has_gpus
                    ? fmt::format("{} found: {}", gpus->size(), fmt::join(descriptions, ", "))
                    : "none found";
}

}  // namespace

absl::StatusOr<std::string> DescribeContainers(const launch::ContainerHostOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const launch::ContainerEngine engine,
                           launch::ContainerHost(options).Engine());
  return launch::DescribeEngine(engine);
}

HostReport ExamineHost() {
  HostReport report;
  AddGpus(report);
  const absl::StatusOr<std::string> containers = DescribeContainers({});
  report.runs_containers = containers.ok();
  report.containers = containers.ok() ? *containers : std::string(containers.status().message());
  const launch::ControlGroupHost host = launch::ExamineControlGroups({});
  report.limits = launch::DescribeLimits(host);
  report.is_limited = host.limits_memory && host.limits_cpus;
  return report;
}

}  // namespace vernier::app
