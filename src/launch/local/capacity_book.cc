#include "src/launch/local/capacity_book.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/check.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

// Fractions of CPUs are summed in binary: ten times 0.1 must fit into 1.
constexpr double kCpuTolerance = 1e-9;

std::string Bytes(std::int64_t bytes) {
  constexpr double kMiB = 1024.0 * 1024.0;
  constexpr double kGiB = 1024.0 * kMiB;
  const auto amount = static_cast<double>(bytes);
  if (amount >= kGiB) return fmt::format("{:.4g} GiB", amount / kGiB);
  return fmt::format("{:.4g} MiB", amount / kMiB);
}

// "needs 4 cpus, 2 free" or "needs 4 cpus, this host has 2".
std::string Lacks(const std::string& needed,
                  std::string_view what,
                  const std::string& available,
                  bool is_host) {
  const std::string needs = fmt::format("needs {}{}", needed, what);
  return is_host ? fmt::format("{}, this host has {}", needs, available)
                 : fmt::format("{}, {} free", needs, available);
}

std::int64_t CountGpus(const std::vector<GpuDevice>& gpus, const std::string& type) {
  if (type.empty()) return static_cast<std::int64_t>(gpus.size());
  return std::ranges::count(gpus, type, &GpuDevice::type);
}

// The type of which most are free, so that one replica's devices are alike where they can be.
std::string CommonestType(const std::vector<GpuDevice>& free) {
  return std::ranges::max(free,
                          {},
                          [&](const GpuDevice& gpu) {
                            return std::ranges::count(free, gpu.type, &GpuDevice::type);
                          })
      .type;
}

// Takes `count` devices of the type, or of any for "".  REQUIRES: there are as many.
std::vector<std::string> TakeGpus(std::int64_t count,
                                  const std::string& type,
                                  std::vector<GpuDevice>& free) {
  std::vector<std::string> taken;
  std::string wanted = type;
  while (static_cast<std::int64_t>(taken.size()) < count) {
    auto gpu = std::ranges::find(free, wanted, &GpuDevice::type);
    if (gpu == free.end() || (type.empty() && taken.empty())) {
      wanted = CommonestType(free);
      gpu = std::ranges::find(free, wanted, &GpuDevice::type);
    }
    taken.push_back(gpu->id);
    free.erase(gpu);
  }
  return taken;
}

}  // namespace

CapacityBook::CapacityBook(HostCapacity capacity) : capacity_(std::move(capacity)) {}

CapacityBook::Need CapacityBook::Sum(const std::vector<ReplicaRequest>& replicas) {
  Need need;
  for (const ReplicaRequest& replica : replicas) {
    need.cpus += replica.resources.cpus;
    need.memory_bytes += replica.resources.memory_bytes;
    if (replica.resources.gpus > 0) {
      need.gpus[replica.resources.gpu_type] += replica.resources.gpus;
    }
  }
  return need;
}

std::string CapacityBook::Shortfall(const Need& need, const HostCapacity& available, bool is_host) {
  std::vector<std::string> lacks;
  if (need.cpus > available.cpus + kCpuTolerance) {
    lacks.push_back(Lacks(fmt::format("{:.4g}", need.cpus),
                          " cpus",
                          fmt::format("{:.4g}", std::max(0.0, available.cpus)),
                          is_host));
  }
  if (need.memory_bytes > available.memory_bytes) {
    lacks.push_back(Lacks(Bytes(need.memory_bytes),
                          " of memory",
                          Bytes(std::max<std::int64_t>(0, available.memory_bytes)),
                          is_host));
  }
  std::int64_t total = 0;
  bool typed_fit = true;
  for (const auto& [type, count] : need.gpus) {
    total += count;
    const std::int64_t there = CountGpus(available.gpus, type);
    if (type.empty() || count <= there) continue;
    typed_fit = false;
    lacks.push_back(Lacks(std::to_string(count),
                          fmt::format(" gpus of type {}", type),
                          std::to_string(there),
                          is_host));
  }
  const std::int64_t all = CountGpus(available.gpus, "");
  if (typed_fit && total > all) {  // Those that take any device share what the typed ones leave.
    lacks.push_back(Lacks(std::to_string(total), " gpus", std::to_string(all), is_host));
  }
  return fmt::format("{}", fmt::join(lacks, "; "));
}

HostCapacity CapacityBook::Free() const {
  HostCapacity free = capacity_;
  std::set<std::string> held;
  for (const auto& [id, holding] : holdings_) {
    free.cpus -= holding.cpus;
    free.memory_bytes -= holding.memory_bytes;
    held.insert(holding.gpus.begin(), holding.gpus.end());
  }
  std::erase_if(free.gpus, [&](const GpuDevice& gpu) { return held.contains(gpu.id); });
  return free;
}

absl::Status CapacityBook::CheckFits(const std::vector<ReplicaRequest>& replicas) const {
  const std::string shortfall = Shortfall(Sum(replicas), capacity_, /*is_host=*/true);
  return shortfall.empty() ? absl::OkStatus() : InvalidArgument("{}", shortfall);
}

absl::StatusOr<GpuAssignment> CapacityBook::Reserve(const AttemptId& id,
                                                    const std::vector<ReplicaRequest>& replicas) {
  VERNIER_CHECK(!holdings_.contains(id), "the attempt holds capacity already");
  VERNIER_RETURN_IF_ERROR(CheckFits(replicas));
  const Need need = Sum(replicas);
  HostCapacity free = Free();
  if (const std::string shortfall = Shortfall(need, free, /*is_host=*/false); !shortfall.empty()) {
    return WithReason(ResourceExhausted("{}", shortfall), Reason::kInsufficientCapacity);
  }
  Holding holding{.cpus = need.cpus, .memory_bytes = need.memory_bytes, .gpus = {}};
  GpuAssignment assignment(replicas.size());
  for (const bool typed : {true, false}) {  // Those that want a type choose first.
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      const Resources& resources = replicas[i].resources;
      if (resources.gpus == 0 || resources.gpu_type.empty() == typed) continue;
      assignment[i] = TakeGpus(resources.gpus, resources.gpu_type, free.gpus);
      holding.gpus.insert(holding.gpus.end(), assignment[i].begin(), assignment[i].end());
    }
  }
  holdings_.emplace(id, std::move(holding));
  return assignment;
}

void CapacityBook::Take(const AttemptId& id,
                        const std::vector<ReplicaRequest>& replicas,
                        const Placement& placement) {
  const Need need = Sum(replicas);
  Holding holding{.cpus = need.cpus, .memory_bytes = need.memory_bytes, .gpus = {}};
  for (const ReplicaPlacement& replica : placement) {
    holding.gpus.insert(holding.gpus.end(), replica.gpus.begin(), replica.gpus.end());
  }
  holdings_[id] = std::move(holding);
}

void CapacityBook::Release(const AttemptId& id) { holdings_.erase(id); }

}  // namespace vernier::launch
