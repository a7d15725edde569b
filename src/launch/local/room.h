#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/launch/local/host_capacity.h"
#include "vernier/launcher.h"

// The free resources of one host, and whether a gang fits into them. Plain values without clock or queue.
namespace vernier::launch {

// The devices that one replica asks for.
struct DeviceAsk {
  std::size_t replica = 0;  // Index in the gang.
  std::int32_t count = 0;
  std::string type;               // "": any.
  std::int64_t memory_bytes = 0;  // Of each device; 0: whole devices.
  friend bool operator==(const DeviceAsk&, const DeviceAsk&) = default;
};

// The sum of a gang's requests.
struct GangNeed {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t whole_devices = 0;  // Of all types, without shares.
  std::size_t replicas = 0;
  // In the order of choice: requests with fewer suitable devices choose first.
  std::vector<DeviceAsk> devices;
  // One for each kind of request, the largest: a gang of 64 replicas may make the same request 64 times.
  std::vector<DeviceAsk> kinds;
  friend bool operator==(const GangNeed&, const GangNeed&) = default;
};

GangNeed SumOf(const std::vector<ReplicaRequest>& replicas);

// A device, by its index in HostCapacity::gpus, or a part of its memory.
struct DeviceShare {
  std::size_t device = 0;
  std::int64_t memory_bytes = 0;  // 0: the whole device.
  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
};

// The resources that a gang takes, or would take.
struct Claim {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::vector<std::vector<DeviceShare>> devices;  // By replica.
};

class Room {
 public:
  // The whole host, which must outlive the room.
  explicit Room(const HostCapacity& host);

  // The resources that the gang would take; nothing if it does not fit. A replica gets devices of one type if possible.
  // Shares are taken from devices that already have shares, so that whole devices stay whole.
  std::optional<Claim> Find(const GangNeed& need) const;
  // False: Find would find nothing. Cheap, since it is called for every gang of a long queue.
  bool HasSums(const GangNeed& need) const;
  bool HasCpus(double cpus) const;  // A request for none always fits, even on an overbooked host.
  bool HasDevices(const GangNeed& need) const;
  // Whether exactly these resources are free.
  bool Has(const Claim& claim) const;

  // Take books the claim, even beyond the free resources; Give returns it.
  void Take(const Claim& claim);
  void Give(const Claim& claim);

  // The resources that others may take while `gang` waits for an unknown time. In each dimension (CPUs, memory, devices
  // of a type, devices of any type): what remains beside its need if that is free, or nothing if the gang waits for
  // that dimension.
  Room Spare(const GangNeed& gang) const;
  // The resources that are free in both rooms, device by device.
  Room CommonWith(const Room& other) const;

  // 0 if the host is overbooked or only a remainder of rounding is free.
  double cpus() const;
  std::int64_t memory_bytes() const;
  // Number of free devices of the type ("": any), or of free shares of that much memory.
  std::int64_t CountFree(const std::string& type, std::int64_t memory_bytes) const;
  // Whether the device has neither owner nor sharer.
  bool IsUntouched(std::size_t device) const;
  bool IsShared(std::size_t device) const;

 private:
  struct Device {
    std::int64_t free_memory = 0;
    std::int32_t owners = 0;   // Of the whole device; more than one only if overbooked.
    std::int32_t sharers = 0;  // Of parts of its memory.
  };

  // Number of devices that suit the request.
  std::int64_t CountUsable(const DeviceAsk& ask) const;
  bool Serves(std::size_t device, const std::string& type, std::int64_t memory_bytes) const;
  // Takes the devices for the request.  False: too few suit it, and nothing was taken.
  bool Choose(const DeviceAsk& ask, std::vector<DeviceShare>& chosen);
  bool ChooseAll(const GangNeed& need, std::vector<std::vector<DeviceShare>>& chosen);
  void TakeDevice(const DeviceShare& share, int sign);
  // Sets aside the devices that requests of the type choose, or all devices of the type if they are too few.
  void Reserve(const std::vector<DeviceAsk>& asks, const std::string& type);

  const HostCapacity* host_;
  double cpus_;
  std::int64_t memory_bytes_;
  std::vector<Device> devices_;
};

// What `need` lacks, in words: "needs 4 cpus, 2 free; needs 16 T4, 8 free". Empty: nothing.
std::string Shortfall(const GangNeed& need, const Room& free, const HostCapacity& host);
// The same for the empty host: "needs 4 cpus, this host has 2".
std::string Shortfall(const GangNeed& need, const HostCapacity& host);

// Describes a need: "4 cpus, 8 GiB of memory, 2 T4", or "nothing".
std::string Describe(const GangNeed& need);

}  // namespace vernier::launch
