#include "src/app/host_report.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/configuration.h"
#include "src/core/status.h"
#include "src/launch/local/control_group_host.h"
#include "src/launch/local/gpu_inventory.h"
#include "src/launch/local/host_inventory.h"
#include "src/launch/programs.h"
#include "src/launch/slurm/examine.h"

namespace vernier::app {
namespace {

std::string Gibibytes(std::int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 0x1p30);
}

std::string Describe(const launch::GpuDevice& gpu) {
  return gpu.memory_bytes > 0 ? fmt::format("{} {}", gpu.type, Gibibytes(gpu.memory_bytes))
                              : gpu.type;
}

void AddGpus(HostReport& report) {
  // Without the supervisor program no job runs here, but nvidia-smi may still list devices.
  // Detection goes through the supervisor, which bounds a driver that hangs.
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

// Time limit for starting an interpreter or importing a package. A choice: large packages import slowly from a cold
// disk.
constexpr absl::Duration kPythonPatience = absl::Seconds(60);

// Runs the script; returns its last line. Packages print warnings before it.
absl::StatusOr<std::string> Ask(const std::string& python, const std::string& script) {
  VERNIER_ASSIGN_OR_RETURN(std::string output,
                           launch::OutputOf({python, "-c", script}, kPythonPatience));
  while (output.ends_with('\n')) output.pop_back();
  return output.substr(output.rfind('\n') + 1);
}

}  // namespace

PythonReport ExaminePython() {
  PythonReport report;
  const std::optional<std::string> python = launch::FindProgram("python3");
  if (!python.has_value()) return report;
  report.path = *python;
  // Asks the interpreter alone first: whether it runs at all.
  const absl::StatusOr<std::string> version =
      Ask(*python, "import sys; print(sys.version.split()[0])");
  if (!version.ok()) {
    report.is_broken = true;
    report.found = absl::IsDeadlineExceeded(version.status()) ? "does not answer" : "cannot be run";
    return report;
  }
  std::vector<std::string> installed;
  std::vector<std::string> missing;
  for (const char* package : {"numpy", "torch", "tensorflow"}) {
    // A process for each package, since an import may crash or hang. find_spec tells a missing package from a broken
    // one.
    const auto found =
        Ask(*python,
            fmt::format("import importlib.util as u\n"
                        "if u.find_spec('{0}') is None: print('missing')\n"
                        "else:\n"
                        " try:\n"
                        "  import {0}; print('{0}', getattr({0}, '__version__', ''))\n"
                        " except Exception as e:\n"
                        "  print('{0} cannot be imported:', str(e).split('\\n')[0])\n",
                        package));
    if (found.ok() && *found == "missing") {
      missing.emplace_back(package);
      continue;
    }
    const bool is_broken = !found.ok() || found->find(" cannot be imported") != std::string::npos;
    report.is_broken |= is_broken;
    installed.push_back(found.ok() ? *found
                        : absl::IsDeadlineExceeded(found.status())
                            ? fmt::format("{} takes longer than a minute to import", package)
                            : fmt::format("{} crashes when it is imported", package));
  }
  report.found = *version;
  if (!installed.empty()) report.found += fmt::format("; {}", fmt::join(installed, ", "));
  if (!missing.empty()) report.found += fmt::format("; no {}", fmt::join(missing, ", "));
  return report;
}

absl::StatusOr<std::string> DescribeContainers(const launch::ContainerHostOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const launch::ContainerEngine engine,
                           launch::ContainerHost(options).Engine());
  return launch::DescribeEngine(engine);
}

absl::StatusOr<std::vector<ClusterReport>> ExamineClusters(const std::string& configuration) {
  // A choice: an idle cluster starts a job within seconds, and a person waits.
  constexpr absl::Duration kPatience = absl::Seconds(30);
  VERNIER_ASSIGN_OR_RETURN(const Configuration file, LoadConfiguration(configuration));
  ServerOptions options;
  VERNIER_RETURN_IF_ERROR(ApplyHost(file, options));
  VERNIER_RETURN_IF_ERROR(CheckRuntimes(options.runtimes));
  const std::unique_ptr<Clock> clock = NewRealClock();
  std::vector<ClusterReport> reports;
  for (const auto& [name, cluster] : options.clusters) {
    for (launch::slurm::Finding& finding :
         launch::slurm::ExamineCluster(cluster, *clock, kPatience)) {
      reports.push_back({.name = name,
                         .check = std::move(finding.name),
                         .is_ok = finding.is_ok,
                         .found = std::move(finding.found),
                         .advice = std::move(finding.advice)});
    }
  }
  return reports;
}

HostReport ExamineHost() {
  HostReport report;
  const launch::HostCapacity capacity = launch::DetectHost();
  report.capacity =
      fmt::format("{} CPUs, {} of memory", capacity.cpus, Gibibytes(capacity.memory_bytes));
  const absl::StatusOr<std::string> supervisor = launch::FindSupervisor();
  report.has_supervisor = supervisor.ok();
  report.supervisor = supervisor.ok() ? *supervisor : std::string(supervisor.status().message());
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
