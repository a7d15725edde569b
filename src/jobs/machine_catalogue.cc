// The figures are those of AI Platform Training's documentation ("Machine types and GPUs"). Its table of allowed GPUs
// follows from one rule and a few numbers for each type (AllowedCounts), except for one cell, which machines.json lists
// under "allowed": docs/adr/0024-training-inputs-are-resolved-once.md.
//
// A document is read entry by entry, then references between entries are checked over the whole, so that a server's
// configuration can replace what the standard catalogue's entries refer to.

#include "src/jobs/machine_catalogue.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "src/codec/mapping.h"
#include "src/core/check.h"
#include "src/core/nearest.h"
#include "src/core/training_job_validation.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::jobs {

extern const char kMachines[];  // machines.json.

namespace {

using codec::Json;
using codec::Mapping;

// Google's machine types count memory in units of 2^30 bytes.
constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;
constexpr std::string_view kMaker = "NVIDIA_";
constexpr std::string_view kLine = "TESLA_";
constexpr std::pair<const char*, Role> kRoles[] = {{"master", Role::kPrimary},
                                                   {"worker", Role::kWorker},
                                                   {"ps", Role::kParameterServer},
                                                   {"evaluator", Role::kEvaluator}};

absl::StatusOr<std::vector<std::int32_t>> ReadCounts(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::int32_t> counts,
                           codec::ReadList<std::int32_t>(json, path, &codec::ReadInt32));
  if (counts.empty()) return FieldError(path, "must name a number of GPUs, got []");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) continue;
    return FieldError(fmt::format("{}[{}]", path, i),
                      fmt::format("must be at least 1, got {}", counts[i]));
  }
  return counts;
}

absl::StatusOr<std::set<std::string>> ReadNames(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> names, codec::ReadTexts(json, path));
  return std::set<std::string>(names.begin(), names.end());
}

// --- reading: one entry of each kind ---

absl::Status ReadTier(const Json& json, const std::string& path, Tier& tier) {
  tier.clear();
  VERNIER_ASSIGN_OR_RETURN(const Mapping roles,
                           Mapping::Open(json, path, {"master", "worker", "ps", "evaluator"}));
  for (const auto& [name, role] : kRoles) {
    const Json* const entry = roles.Find(name);
    if (entry == nullptr) continue;
    VERNIER_ASSIGN_OR_RETURN(
        const Mapping mapping,
        Mapping::Open(*entry, roles.PathOf(name), {"count", "machine", "gpus", "gpu"}));
    TierRole& replica = tier[role];
    replica.count = 1;
    VERNIER_RETURN_IF_ERROR(mapping.Read("count", replica.count, &codec::ReadInt32));
    VERNIER_RETURN_IF_ERROR(mapping.Require("machine").status());
    VERNIER_RETURN_IF_ERROR(mapping.Read("machine", replica.machine, &codec::ReadText));
    VERNIER_RETURN_IF_ERROR(mapping.Read("gpus", replica.gpus, &codec::ReadInt32));
    VERNIER_RETURN_IF_ERROR(mapping.Read("gpu", replica.gpu, &codec::ReadText));
  }
  return tier.contains(Role::kPrimary) ? absl::OkStatus()
                                       : FieldError(path + ".master", "is missing");
}

absl::Status ReadAllowed(const Json& json, const std::string& path, MachineType& machine) {
  for (const auto& [gpu, counts] : json.items()) {
    VERNIER_ASSIGN_OR_RETURN(machine.allowed[gpu],
                             ReadCounts(counts, fmt::format("{}.{}", path, gpu)));
  }
  return absl::OkStatus();
}

absl::Status ReadMachine(const Json& json,
                         const std::string& path,
                         const MachineCatalogue& catalogue,
                         MachineType& machine) {
  machine = {};
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(
          json, path, {"same_as", "cpus", "memory_gb", "gpus", "gpu", "selectable", "allowed"}));
  if (const Json* const same_as = mapping.Find("same_as")) {
    VERNIER_ASSIGN_OR_RETURN(const std::string name,
                             codec::ReadText(*same_as, mapping.PathOf("same_as")));
    const auto other = catalogue.machines.find(name);
    if (other == catalogue.machines.end()) {
      return FieldError(mapping.PathOf("same_as"), fmt::format("there is no machine '{}'", name));
    }
    machine.cpus = other->second.cpus;
    machine.memory_bytes = other->second.memory_bytes;
    // An entry that equals another one counts as an older name.
    machine.legacy = true;
  } else {
    double memory_gb = 0;
    VERNIER_RETURN_IF_ERROR(mapping.Require("cpus").status());
    VERNIER_RETURN_IF_ERROR(mapping.Require("memory_gb").status());
    VERNIER_RETURN_IF_ERROR(mapping.Read("cpus", machine.cpus, &codec::ReadNumber));
    VERNIER_RETURN_IF_ERROR(mapping.Read("memory_gb", memory_gb, &codec::ReadNumber));
    if (!(machine.cpus > 0)) return FieldError(path + ".cpus", "must be above 0");
    if (!(memory_gb > 0)) return FieldError(path + ".memory_gb", "must be above 0");
    machine.memory_bytes = std::llround(memory_gb * kBytesPerGb);
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpus", machine.gpus, &codec::ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpu", machine.gpu, &codec::ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("selectable", machine.selectable, &codec::ReadBool));
  const Json* const allowed = mapping.Find("allowed");
  return allowed == nullptr ? absl::OkStatus()
                            : ReadAllowed(*allowed, mapping.PathOf("allowed"), machine);
}

absl::Status ReadGpu(const Json& json, const std::string& path, GpuType& gpu) {
  gpu = {};
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(
          json, path, {"counts", "built_in", "cpus_per_gpu", "memory_gb_per_gpu", "cap"}));
  VERNIER_RETURN_IF_ERROR(mapping.Require("counts").status());
  VERNIER_RETURN_IF_ERROR(mapping.Read("counts", gpu.counts, &ReadCounts));
  VERNIER_RETURN_IF_ERROR(mapping.Read("built_in", gpu.built_in, &codec::ReadBool));
  VERNIER_RETURN_IF_ERROR(mapping.Read("cpus_per_gpu", gpu.cpus_per_gpu, &codec::ReadNumber));
  VERNIER_RETURN_IF_ERROR(
      mapping.Read("memory_gb_per_gpu", gpu.memory_gb_per_gpu, &codec::ReadNumber));
  const Json* const cap = mapping.Find("cap");
  if (cap == nullptr) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping bounds,
      Mapping::Open(*cap, mapping.PathOf("cap"), {"gpus", "cpus", "memory_gb"}));
  VERNIER_RETURN_IF_ERROR(bounds.Read("gpus", gpu.cap_gpus, &codec::ReadInt32));
  VERNIER_RETURN_IF_ERROR(bounds.Read("cpus", gpu.cap_cpus, &codec::ReadNumber));
  return bounds.Read("memory_gb", gpu.cap_memory_gb, &codec::ReadNumber);
}

absl::Status ReadRegion(const Json& json, const std::string& path, Region& region) {
  region = {};
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json, path, {"gpus", "apart", "zones"}));
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpus", region.gpus, &codec::ReadBool));
  if (const Json* const apart = mapping.Find("apart")) {
    VERNIER_ASSIGN_OR_RETURN(
        region.apart,
        codec::ReadList<std::set<std::string>>(*apart, mapping.PathOf("apart"), &ReadNames));
  }
  const Json* const zones = mapping.Find("zones");
  if (zones == nullptr) return absl::OkStatus();
  if (!zones->is_object()) return codec::MustBe(path + ".zones", "a mapping of zones", *zones);
  for (const auto& [name, gpus] : zones->items()) {
    VERNIER_ASSIGN_OR_RETURN(region.zones[name],
                             ReadNames(gpus, fmt::format("{}.zones.{}", path, name)));
    // A region with a zone that has GPUs has GPUs, whether or not it says so.
    region.gpus |= !region.zones[name].empty();
  }
  return absl::OkStatus();
}

// Reads each entry of the document's `key` with `read(json, path, entry)`.
template <typename T, typename Read>
absl::Status ReadEntries(const Mapping& document,
                         const char* key,
                         std::map<std::string, T>& entries,
                         const Read& read) {
  const Json* const json = document.Find(key);
  if (json == nullptr) return absl::OkStatus();
  if (!json->is_object()) return codec::MustBe(document.PathOf(key), "a mapping of names", *json);
  for (const auto& [name, entry] : json->items()) {
    if (name.empty()) return FieldError(document.PathOf(key), "a name must not be empty");
    VERNIER_RETURN_IF_ERROR(
        read(entry, fmt::format("{}.{}", document.PathOf(key), name), entries[name]));
  }
  return absl::OkStatus();
}

// --- references between entries ---

template <typename T>
std::vector<std::string> NamesOf(const std::map<std::string, T>& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& [name, entry] : entries) names.push_back(name);
  return names;
}

absl::Status CheckGpuName(const MachineCatalogue& catalogue,
                          const std::string& path,
                          const std::string& gpu) {
  if (catalogue.gpus.contains(gpu)) return absl::OkStatus();
  return FieldError(
      path, fmt::format("there is no GPU '{}'{}", gpu, NearestHint(gpu, NamesOf(catalogue.gpus))));
}

// Checks the built-in GPUs of a machine or of a tier's replica.
absl::Status CheckOwnGpus(const MachineCatalogue& catalogue,
                          const std::string& path,
                          const std::string& gpu,
                          std::int32_t gpus) {
  if (gpus < 0) return FieldError(path + ".gpus", fmt::format("must be at least 0, got {}", gpus));
  if (gpus > 0 && gpu.empty()) {
    return FieldError(path + ".gpu", fmt::format("is missing; gpus is {}", gpus));
  }
  if (gpus == 0 && !gpu.empty()) {
    return FieldError(path + ".gpus", fmt::format("must be at least 1, since gpu is '{}'", gpu));
  }
  return gpus == 0 ? absl::OkStatus() : CheckGpuName(catalogue, path + ".gpu", gpu);
}

absl::Status CheckMachines(const MachineCatalogue& catalogue, const std::string& path) {
  for (const auto& [name, machine] : catalogue.machines) {
    const std::string at = fmt::format("{}.machines.{}", path, name);
    VERNIER_RETURN_IF_ERROR(CheckOwnGpus(catalogue, at, machine.gpu, machine.gpus));
    for (const auto& [gpu, counts] : machine.allowed) {
      VERNIER_RETURN_IF_ERROR(CheckGpuName(catalogue, at + ".allowed", gpu));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTierRole(const MachineCatalogue& catalogue,
                           const std::string& path,
                           Role role,
                           const TierRole& replica) {
  const std::int32_t most = role == Role::kPrimary ? 1 : limits::kReplicas;
  if (replica.count < 1 || replica.count > most) {
    return FieldError(path + ".count",
                      most == 1 ? fmt::format("must be 1, got {}", replica.count)
                                : fmt::format("must be from 1 to {}, got {}", most, replica.count));
  }
  if (!catalogue.machines.contains(replica.machine)) {
    return FieldError(path + ".machine", fmt::format("there is no machine '{}'", replica.machine));
  }
  return CheckOwnGpus(catalogue, path, replica.gpu, replica.gpus);
}

absl::Status CheckTiers(const MachineCatalogue& catalogue, const std::string& path) {
  for (const auto& [name, tier] : catalogue.tiers) {
    for (const auto& [role_name, role] : kRoles) {
      const auto replica = tier.find(role);
      if (replica == tier.end()) continue;
      const std::string at = fmt::format("{}.tiers.{}.{}", path, name, role_name);
      VERNIER_RETURN_IF_ERROR(CheckTierRole(catalogue, at, role, replica->second));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRegions(const MachineCatalogue& catalogue, const std::string& path) {
  for (const auto& [name, region] : catalogue.regions) {
    const std::string at = fmt::format("{}.regions.{}", path, name);
    for (const std::set<std::string>& apart : region.apart) {
      for (const std::string& gpu : apart) {
        VERNIER_RETURN_IF_ERROR(CheckGpuName(catalogue, at + ".apart", gpu));
      }
    }
    for (const auto& [zone, gpus] : region.zones) {
      for (const std::string& gpu : gpus) {
        VERNIER_RETURN_IF_ERROR(CheckGpuName(catalogue, fmt::format("{}.zones.{}", at, zone), gpu));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReferences(const MachineCatalogue& catalogue, const std::string& path) {
  VERNIER_RETURN_IF_ERROR(CheckMachines(catalogue, path));
  VERNIER_RETURN_IF_ERROR(CheckTiers(catalogue, path));
  return CheckRegions(catalogue, path);
}

// --- rules ---

bool Serves(const GpuType& gpu, std::int32_t count, const MachineType& machine) {
  double cpus = count * gpu.cpus_per_gpu;
  double memory_gb = count * gpu.memory_gb_per_gpu;
  if (gpu.cap_gpus > 0 && count >= gpu.cap_gpus) {
    cpus = std::min(cpus, gpu.cap_cpus.value_or(cpus));
    memory_gb = std::min(memory_gb, gpu.cap_memory_gb.value_or(memory_gb));
  }
  return machine.cpus <= cpus &&
         static_cast<double>(machine.memory_bytes) <= memory_gb * kBytesPerGb;
}

std::vector<std::int32_t> AllowedCounts(const GpuType& gpu,
                                        const std::string& name,
                                        const MachineType& machine) {
  std::vector<std::int32_t> counts;
  const auto more = machine.allowed.find(name);
  for (const std::int32_t count : gpu.counts) {
    // Exceptions to the rule ("allowed" in machines.json).
    const bool listed =
        more != machine.allowed.end() && std::ranges::count(more->second, count) > 0;
    if (listed || Serves(gpu, count, machine)) counts.push_back(count);
  }
  return counts;
}

std::string OtherGpus(const MachineCatalogue& catalogue, const MachineType& machine) {
  std::vector<std::string> others;
  for (const auto& [name, gpu] : catalogue.gpus) {
    if (!gpu.built_in && !AllowedCounts(gpu, name, machine).empty()) others.push_back(name);
  }
  return others.empty() ? "it takes none" : fmt::format("it takes {}", fmt::join(others, ", "));
}

}  // namespace

const MachineCatalogue& StandardCatalogue() {
  static const MachineCatalogue* const catalogue = [] {
    absl::StatusOr<MachineCatalogue> read = Extend({}, Json::parse(kMachines), "machines");
    // machines.json is compiled in, so an error in it is a bug.
    VERNIER_CHECK(read.ok(), "the catalogue of machines is sound");
    return new MachineCatalogue(*std::move(read));
  }();
  return *catalogue;
}

absl::StatusOr<MachineCatalogue> Extend(MachineCatalogue catalogue,
                                        const nlohmann::ordered_json& document,
                                        const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(document, path, {"tiers", "machines", "gpus", "regions"}));
  VERNIER_RETURN_IF_ERROR(
      ReadEntries(mapping,
                  "machines",
                  catalogue.machines,
                  [&](const Json& json, const std::string& entry_path, MachineType& machine) {
                    return ReadMachine(json, entry_path, catalogue, machine);
                  }));
  VERNIER_RETURN_IF_ERROR(ReadEntries(mapping, "tiers", catalogue.tiers, &ReadTier));
  VERNIER_RETURN_IF_ERROR(ReadEntries(mapping, "gpus", catalogue.gpus, &ReadGpu));
  VERNIER_RETURN_IF_ERROR(ReadEntries(mapping, "regions", catalogue.regions, &ReadRegion));
  // After all parts are read, since entries may refer to later ones.
  VERNIER_RETURN_IF_ERROR(CheckReferences(catalogue, path));
  return catalogue;
}

absl::StatusOr<const MachineType*> FindMachine(const MachineCatalogue& catalogue,
                                               const std::string& name,
                                               const std::string& path) {
  const auto machine = catalogue.machines.find(name);
  if (machine != catalogue.machines.end() && machine->second.selectable) return &machine->second;
  // Known names get an answer of their own, instead of "unknown, did you mean standard_gpu?".
  if (name == "cloud_tpu" || name == "standard_tpu") {
    return FieldError(path, fmt::format("'{}' is a TPU, which no host of this server has", name));
  }
  std::vector<std::string> known;
  for (const auto& [other, type] : catalogue.machines) {
    if (type.selectable) known.push_back(other);
  }
  return FieldError(path,
                    fmt::format("unknown machine type '{}'{}", name, NearestHint(name, known)));
}

absl::Status CheckGpus(const MachineCatalogue& catalogue,
                       const std::string& machine_name,
                       const std::string& gpu_name,
                       std::int64_t count,
                       const GpuPaths& paths) {
  if (gpu_name.starts_with("TPU_")) {
    return FieldError(paths.type,
                      fmt::format("'{}' is a TPU, which no host of this server has", gpu_name));
  }
  const auto gpu = catalogue.gpus.find(gpu_name);
  if (gpu == catalogue.gpus.end()) {
    return FieldError(paths.type,
                      fmt::format("unknown accelerator '{}'{}",
                                  gpu_name,
                                  NearestHint(gpu_name, NamesOf(catalogue.gpus))));
  }
  const MachineType& machine = catalogue.machines.at(machine_name);
  if (machine.legacy) {
    return FieldError(paths.whole,
                      fmt::format("machine type '{}' takes none; choose a Compute Engine type such "
                                  "as n1-standard-8",
                                  machine_name));
  }
  if (!machine.gpu.empty() && machine.gpu != gpu_name) {
    return FieldError(
        paths.type,
        fmt::format("machine type '{}' has {}, got {}", machine_name, machine.gpu, gpu_name));
  }
  if (!machine.gpu.empty()) {
    if (count == machine.gpus) return absl::OkStatus();
    return FieldError(
        paths.count,
        fmt::format(
            "machine type '{}' has {} {}, got {}", machine_name, machine.gpus, gpu_name, count));
  }
  const std::vector<std::int32_t> counts = gpu->second.built_in
                                               ? std::vector<std::int32_t>()
                                               : AllowedCounts(gpu->second, gpu_name, machine);
  if (std::ranges::count(counts, count) > 0) return absl::OkStatus();
  if (counts.empty()) {
    return FieldError(paths.type,
                      fmt::format("machine type '{}' takes no {}; {}",
                                  machine_name,
                                  gpu_name,
                                  OtherGpus(catalogue, machine)));
  }
  return FieldError(paths.count,
                    fmt::format("machine type '{}' takes {} of {}, got {}",
                                machine_name,
                                fmt::join(counts, " or "),
                                gpu_name,
                                count));
}

absl::Status CheckRegion(const MachineCatalogue& catalogue,
                         const std::string& name,
                         const std::set<std::string>& gpus,
                         const std::string& path) {
  if (name.empty() || gpus.empty()) return absl::OkStatus();
  const auto region = catalogue.regions.find(name);
  if (region == catalogue.regions.end() || !region->second.gpus) {
    std::vector<std::string> with_gpus;
    for (const auto& [other, entry] : catalogue.regions) {
      if (entry.gpus) with_gpus.push_back(other);
    }
    return FieldError(path,
                      fmt::format("region '{}' has no GPUs{}", name, NearestHint(name, with_gpus)));
  }
  const auto has_all = [&](const auto& zone) { return std::ranges::includes(zone.second, gpus); };
  const auto are_all = [&](const std::set<std::string>& apart) {
    return std::ranges::includes(gpus, apart);
  };
  const bool together =
      (region->second.zones.empty() || std::ranges::any_of(region->second.zones, has_all)) &&
      std::ranges::none_of(region->second.apart, are_all);
  if (together) return absl::OkStatus();
  return FieldError(
      path, fmt::format("no zone of region '{}' has all of {}", name, fmt::join(gpus, ", ")));
}

std::string DeviceType(std::string_view gpu) {
  if (!gpu.starts_with(kMaker)) return std::string(gpu);
  gpu.remove_prefix(kMaker.size());
  if (gpu.starts_with(kLine)) gpu.remove_prefix(kLine.size());
  std::string type(gpu);
  std::ranges::replace(type, '_', '-');
  return type;
}

}  // namespace vernier::jobs
