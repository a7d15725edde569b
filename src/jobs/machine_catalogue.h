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

// Scale tiers, machine types, GPUs and regions under the names of AI Platform Training, and its rules for combining
// them. The data are in machines.json; a server's configuration may add to them: docs/formats/server_configuration.md.
namespace vernier::jobs {

struct MachineType {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::string gpu;  // Built-in GPU type; empty: none.
  std::int32_t gpus = 0;
  // An older name, such as large_model: takes no acceleratorConfig, and is not mixed with Compute Engine types.
  bool legacy = false;
  bool selectable = true;  // False: used by tiers and older names only.
  // Counts of GPUs that are allowed beside the rule below, by type.
  std::map<std::string, std::vector<std::int32_t>> allowed;
  friend bool operator==(const MachineType&, const MachineType&) = default;
};

// The rule: a count is allowed if it is one of `counts` and large enough for the machine: cpus <= count * cpus_per_gpu,
// and likewise for memory. From `cap_gpus` devices on, the cap bounds the machine.
struct GpuType {
  std::vector<std::int32_t> counts;
  bool built_in = false;  // Only in machines that contain it, in their number.
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
  bool gpus = false;                                   // Has any GPUs.
  std::vector<std::set<std::string>> apart;            // Sets of GPUs that no zone has together.
  std::map<std::string, std::set<std::string>> zones;  // GPUs of each zone, if known.
  friend bool operator==(const Region&, const Region&) = default;
};

struct MachineCatalogue {
  std::map<std::string, Tier> tiers;
  std::map<std::string, MachineType> machines;
  std::map<std::string, GpuType> gpus;
  std::map<std::string, Region> regions;
  friend bool operator==(const MachineCatalogue&, const MachineCatalogue&) = default;
};

// The catalogue of AI Platform Training.
const MachineCatalogue& StandardCatalogue();

// Adds or replaces entries of `catalogue` by name; the document has the form of machines.json.
// InvalidArgument: a FieldError below `path`.
absl::StatusOr<MachineCatalogue> Extend(MachineCatalogue catalogue,
                                        const nlohmann::ordered_json& document,
                                        const std::string& path);

// Finds a machine that users may choose.  InvalidArgument: a FieldError of `path` with similar names.
absl::StatusOr<const MachineType*> FindMachine(const MachineCatalogue& catalogue,
                                               const std::string& name,
                                               const std::string& path);

// Field paths of a replica's GPUs, by default those of an acceleratorConfig.
struct GpuPaths {
  std::string whole;
  std::string type = whole + ".type";
  std::string count = whole + ".count";
};

// Checks that the machine takes `count` GPUs.  InvalidArgument: a FieldError of these paths with valid values.
absl::Status CheckGpus(const MachineCatalogue& catalogue,
                       const std::string& machine,
                       const std::string& gpu,
                       std::int64_t count,
                       const GpuPaths& paths);

// Checks that one zone of the region has all of these GPUs. An unknown region has none.
absl::Status CheckRegion(const MachineCatalogue& catalogue,
                         const std::string& region,
                         const std::set<std::string>& gpus,
                         const std::string& path);

// The device type that hosts offer: "T4" for "NVIDIA_TESLA_T4", "RTX-3090" for "NVIDIA_RTX_3090". Other names are
// unchanged.
std::string DeviceType(std::string_view gpu);

}  // namespace vernier::jobs
