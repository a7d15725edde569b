#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "vernier/core/training_job.h"

// Scale tiers, machine types, GPUs and regions by the names that AI Platform Training gave them, and its rules about what
// goes together. Names and figures are data (machines.json), which a server's configuration may add to:
// docs/formats/server_configuration.md.
namespace vernier::jobs {

struct MachineType {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::string gpu;  // What it brings with it; empty: no GPU.
  std::int32_t gpus = 0;
  // An older name, such as large_model: takes no acceleratorConfig, does not mix with others.
  bool legacy = false;
  bool selectable = true;  // Else it only stands in tiers and behind older names.
  // Counts that the rule below would refuse.
  std::map<std::string, std::vector<std::int32_t>> allowed;
  friend bool operator==(const MachineType&, const MachineType&) = default;
};

// The rule: a count is allowed if it is one of `counts`, and serves the machine: cpus <= count * cpus_per_gpu, and the same
// of memory. From `cap_gpus` devices on it serves no more than the cap.
struct GpuType {
  std::vector<std::int32_t> counts;
  bool built_in = false;  // Comes only with machines that have it, in their own number.
  double cpus_per_gpu = 0;
  double memory_gb_per_gpu = 0;
  std::int32_t cap_gpus = 0;  // 0: no cap.
  std::optional<double> cap_cpus;
  std::optional<double> cap_memory_gb;
  friend bool operator==(const GpuType&, const GpuType&) = default;
};

struct TierRole {
  std::int32_t count = 0;
  std::string machine;
  std::string gpu;
  std::int32_t gpus = 0;
  friend bool operator==(const TierRole&, const TierRole&) = default;
};
using Tier = std::map<Role, TierRole>;

struct Region {
  bool gpus = false;                                   // Whether it has any.
  std::vector<std::set<std::string>> apart;            // GPUs of which no zone has all.
  std::map<std::string, std::set<std::string>> zones;  // Where known: the GPUs of each zone.
  friend bool operator==(const Region&, const Region&) = default;
};

struct MachineCatalogue {
  std::map<std::string, Tier> tiers;
  std::map<std::string, MachineType> machines;
  std::map<std::string, GpuType> gpus;
  std::map<std::string, Region> regions;
  friend bool operator==(const MachineCatalogue&, const MachineCatalogue&) = default;
};

// As AI Platform Training had it.
const MachineCatalogue& StandardCatalogue();

// `catalogue` with what the document adds or replaces, by name; of the shape of machines.json.
// InvalidArgument: a FieldError below `path`.
absl::StatusOr<MachineCatalogue> Extend(MachineCatalogue catalogue,
                                        const nlohmann::ordered_json& document,
                                        const std::string& path);

// The machine of that name, for a user to choose.  InvalidArgument: a FieldError of `path`, with the nearest names.
absl::StatusOr<const MachineType*> FindMachine(const MachineCatalogue& catalogue,
                                               const std::string& name,
                                               const std::string& path);

// Where a user says which GPUs a replica has; by default in an acceleratorConfig.
struct GpuPaths {
  std::string whole;
  std::string type = whole + ".type";
  std::string count = whole + ".count";
};

// Whether `count` GPUs go with the machine.  InvalidArgument: FieldErrors of these paths, saying what would.
absl::Status CheckGpus(const MachineCatalogue& catalogue,
                       const std::string& machine,
                       const std::string& gpu,
                       std::int64_t count,
                       const GpuPaths& paths);

// Whether one zone of the region has all of these GPUs. A region that the catalogue does not know has none.
absl::Status CheckRegion(const MachineCatalogue& catalogue,
                         const std::string& region,
                         const std::set<std::string>& gpus,
                         const std::string& path);

// "T4" for "NVIDIA_TESLA_T4", "RTX-3090" for "NVIDIA_RTX_3090": the type by which a host offers its devices. Other names
// are their own.
std::string DeviceType(std::string_view gpu);

}  // namespace vernier::jobs
