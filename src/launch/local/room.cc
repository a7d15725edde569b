// Devices are chosen greedily, one request after the other, in the order of ChoiceOrder. This finds a placement of
// whole devices whenever there is one, since typed requests precede untyped ones. With shares of devices it may miss
// one (bin packing); QueuePlan therefore keeps the placement that it promised.

#include "src/launch/local/room.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace vernier::launch {
namespace {

// Tolerance for sums of binary fractions: ten times 0.1 must fit into 1. Far below any request, far above rounding
// errors.
constexpr double kCpuTolerance = 1e-9;
// Free memory below this is shown as none. A choice: the remainder after a host is divided into whole MiB, useless to
// any job.
constexpr std::int64_t kMemoryCrumbs = 64 << 10;

// Order of choice: typed before untyped, whole devices before shares, large shares before small ones.
auto ChoiceOrder(const DeviceAsk& ask) {
  return std::tuple(ask.type.empty(),
                    ask.memory_bytes > 0,
                    -ask.memory_bytes,
                    std::string_view(ask.type),
                    ask.replica);
}

}  // namespace

GangNeed SumOf(const std::vector<ReplicaRequest>& replicas) {
  GangNeed need{.replicas = replicas.size(), .devices = {}, .kinds = {}};
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const Resources& asks = replicas[i].resources;
    need.cpus += asks.cpus;
    need.memory_bytes += asks.memory_bytes;
    if (asks.gpus <= 0) continue;
    if (asks.gpu_memory_bytes == 0) need.whole_devices += asks.gpus;
    need.devices.push_back({.replica = i,
                            .count = asks.gpus,
                            .type = asks.gpu_type,
                            .memory_bytes = asks.gpu_memory_bytes});
  }
  std::ranges::sort(need.devices, {}, ChoiceOrder);
  for (const DeviceAsk& ask : need.devices) {
    const bool is_same = !need.kinds.empty() && need.kinds.back().type == ask.type &&
                         need.kinds.back().memory_bytes == ask.memory_bytes;
    if (!is_same || need.kinds.back().count < ask.count) need.kinds.push_back(ask);
  }
  return need;
}

Room::Room(const HostCapacity& host)
    : host_(&host), cpus_(host.cpus), memory_bytes_(host.memory_bytes) {
  for (const GpuDevice& gpu : host.gpus) devices_.push_back({.free_memory = gpu.memory_bytes});
}

bool Room::IsUntouched(std::size_t device) const {
  return devices_[device].owners == 0 && devices_[device].sharers == 0;
}

bool Room::IsShared(std::size_t device) const { return devices_[device].sharers > 0; }

bool Room::Serves(std::size_t device, const std::string& type, std::int64_t memory_bytes) const {
  if (!type.empty() && host_->gpus[device].type != type) return false;
  // A whole device must have neither owner nor sharer; a share only needs enough free memory and no owner.
  if (memory_bytes == 0) return IsUntouched(device);
  return devices_[device].owners == 0 && devices_[device].free_memory >= memory_bytes;
}

bool Room::Choose(const DeviceAsk& ask, std::vector<DeviceShare>& chosen) {
  std::vector<std::size_t> usable;
  std::map<std::string_view, std::int64_t> of_type;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!Serves(i, ask.type, ask.memory_bytes)) continue;
    usable.push_back(i);
    ++of_type[host_->gpus[i].type];
  }
  if (static_cast<std::int64_t>(usable.size()) < ask.count) return false;
  // Devices of the most common type first, so that a replica gets equal ones; then devices with shares, and of these
  // the fullest (best fit).
  std::ranges::stable_sort(usable, {}, [&](std::size_t i) {
    const std::string_view type = host_->gpus[i].type;
    return std::tuple(-of_type[type], type, IsUntouched(i), devices_[i].free_memory);
  });
  for (std::int32_t n = 0; n < ask.count; ++n) {
    chosen.push_back({.device = usable[n], .memory_bytes = ask.memory_bytes});
    TakeDevice(chosen.back(), 1);
  }
  return true;
}

bool Room::ChooseAll(const GangNeed& need, std::vector<std::vector<DeviceShare>>& chosen) {
  return std::ranges::all_of(
      need.devices, [&](const DeviceAsk& ask) { return Choose(ask, chosen[ask.replica]); });
}

bool Room::HasCpus(double cpus) const { return cpus == 0 || cpus <= cpus_ + kCpuTolerance; }

bool Room::HasDevices(const GangNeed& need) const {
  std::vector<std::vector<DeviceShare>> chosen(need.replicas);
  return need.devices.empty() || Room(*this).ChooseAll(need, chosen);
}

std::int64_t Room::CountUsable(const DeviceAsk& ask) const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (Serves(i, ask.type, ask.memory_bytes)) ++count;
  }
  return count;
}

bool Room::HasSums(const GangNeed& need) const {
  return HasCpus(need.cpus) && (need.memory_bytes == 0 || need.memory_bytes <= memory_bytes_) &&
         (need.whole_devices == 0 || need.whole_devices <= CountFree("", 0)) &&
         std::ranges::all_of(
             need.kinds, [this](const DeviceAsk& ask) { return ask.count <= CountUsable(ask); });
}

std::optional<Claim> Room::Find(const GangNeed& need) const {
  if (!HasSums(need)) return std::nullopt;
  Claim claim{.cpus = need.cpus,
              .memory_bytes = need.memory_bytes,
              .devices = std::vector<std::vector<DeviceShare>>(need.replicas)};
  if (need.devices.empty() || Room(*this).ChooseAll(need, claim.devices)) return claim;
  return std::nullopt;
}

bool Room::Has(const Claim& claim) const {
  Room left = *this;
  left.cpus_ -= claim.cpus;
  left.memory_bytes_ -= claim.memory_bytes;
  if (claim.cpus > 0 && left.cpus_ < -kCpuTolerance) return false;
  if (claim.memory_bytes > 0 && left.memory_bytes_ < 0) return false;
  for (const auto& replica : claim.devices) {
    for (const DeviceShare& share : replica) {
      if (!left.Serves(share.device, "", share.memory_bytes)) return false;
      left.TakeDevice(share, 1);
    }
  }
  return true;
}

void Room::TakeDevice(const DeviceShare& share, int sign) {
  Device& device = devices_[share.device];
  if (share.memory_bytes == 0) {
    device.owners += sign;
    return;
  }
  device.sharers += sign;
  device.free_memory -= sign * share.memory_bytes;
}

void Room::Take(const Claim& claim) {
  cpus_ -= claim.cpus;
  memory_bytes_ -= claim.memory_bytes;
  for (const auto& replica : claim.devices) {
    for (const DeviceShare& share : replica) TakeDevice(share, 1);
  }
}

void Room::Give(const Claim& claim) {
  cpus_ += claim.cpus;
  memory_bytes_ += claim.memory_bytes;
  for (const auto& replica : claim.devices) {
    for (const DeviceShare& share : replica) TakeDevice(share, -1);
  }
}

void Room::Reserve(const std::vector<DeviceAsk>& asks, const std::string& type) {
  Room left = *this;
  for (const DeviceAsk& ask : asks) {
    std::vector<DeviceShare> chosen;
    if (ask.type != type || left.Choose(ask, chosen)) continue;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (type.empty() || host_->gpus[i].type == type) devices_[i].owners += 1;
    }
    return;
  }
  *this = left;
}

Room Room::Spare(const GangNeed& gang) const {
  Room spare = *this;
  // If the gang waits for CPUs, others get none: each CPU that becomes free brings it nearer to its start.
  spare.cpus_ = HasCpus(gang.cpus) ? cpus_ - gang.cpus : 0;
  spare.memory_bytes_ = gang.memory_bytes > memory_bytes_ ? 0 : memory_bytes_ - gang.memory_bytes;
  std::set<std::string> types;
  for (const DeviceAsk& ask : gang.devices) types.insert(ask.type);
  // Typed requests first: those for any type then choose from the rest, as in ChooseAll.
  const bool takes_any = types.erase("") > 0;
  for (const std::string& type : types) spare.Reserve(gang.devices, type);
  if (takes_any) spare.Reserve(gang.devices, "");
  return spare;
}

Room Room::CommonWith(const Room& other) const {
  Room common = *this;
  common.cpus_ = std::min(cpus_, other.cpus_);
  common.memory_bytes_ = std::min(memory_bytes_, other.memory_bytes_);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    Device& device = common.devices_[i];
    device.owners = std::max(device.owners, other.devices_[i].owners);
    device.sharers = std::max(device.sharers, other.devices_[i].sharers);
    device.free_memory = std::min(device.free_memory, other.devices_[i].free_memory);
  }
  return common;
}

double Room::cpus() const { return cpus_ > kCpuTolerance ? cpus_ : 0; }

std::int64_t Room::memory_bytes() const {
  return memory_bytes_ > kMemoryCrumbs ? memory_bytes_ : 0;
}

std::int64_t Room::CountFree(const std::string& type, std::int64_t memory_bytes) const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!Serves(i, type, memory_bytes)) continue;
    count += memory_bytes == 0 ? 1 : devices_[i].free_memory / memory_bytes;
  }
  return count;
}

}  // namespace vernier::launch
