#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/launch/local/host_capacity.h"
#include "vernier/launcher.h"

// What is free of one host, and whether a gang fits into it. Plain values: no clock, no queue.
namespace vernier::launch {

// The devices that one replica asks for.
struct DeviceAsk {
  std::size_t replica = 0;  // Its place in the gang.
  std::int32_t count = 0;
  std::string type;               // "" any.
  std::int64_t memory_bytes = 0;  // Of each; 0: whole devices.
  friend bool operator==(const DeviceAsk&, const DeviceAsk&) = default;
};

// What a whole gang asks for.
struct GangNeed {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t whole_devices = 0;  // Of all types; no shares.
  std::size_t replicas = 0;
  // In the order in which they choose: those with fewer choices come first.
  std::vector<DeviceAsk> devices;
  // One for each kind of them: a gang of 64 replicas may ask 64 times for the same.
  std::vector<DeviceAsk> kinds;
  friend bool operator==(const GangNeed&, const GangNeed&) = default;
};

GangNeed SumOf(const std::vector<ReplicaRequest>& replicas);

// A device, by its place in HostCapacity::gpus, or a part of its memory.
struct DeviceShare {
  std::size_t device = 0;
  std::int64_t memory_bytes = 0;  // 0: the whole device.
  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
};

// What one gang takes of a host, or would take.
struct Claim {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::vector<std::vector<DeviceShare>> devices;  // Of each replica, in the gang's order.
};

class Room {
 public:
  // All of the host, which must outlive the room.
  explicit Room(const HostCapacity& host);

  // What the gang would take; nothing if it does not fit. One replica's devices are of one type where they can be, and
  // shares go where others have shares already, so that whole devices stay whole.
  std::optional<Claim> Find(const GangNeed& need) const;
  // False: Find finds nothing. Costs next to nothing, which a long queue needs.
  bool HasSums(const GangNeed& need) const;
  bool HasCpus(double cpus) const;  // None fit always, even where the host is overbooked.
  bool HasDevices(const GangNeed& need) const;
  // Whether exactly this is free.
  bool Has(const Claim& claim) const;

  // Books the claim, even beyond what there is; and takes it back.
  void Take(const Claim& claim);
  void Give(const Claim& claim);

  // What is left for others while `gang` waits for nobody knows how long: of each of CPUs, memory, devices of a type and
  // devices of any, what lies beside the gang's need; nothing of what the gang waits for.
  Room Spare(const GangNeed& gang) const;
  // What is free in both, device by device.
  Room CommonWith(const Room& other) const;

  // 0 where the host is overbooked, or next to nothing is left.
  double cpus() const;
  std::int64_t memory_bytes() const;
  // How many devices, or shares of so much memory, of the type ("" any) are free.
  std::int64_t CountFree(const std::string& type, std::int64_t memory_bytes) const;
  // Nobody has anything of the device.
  bool IsUntouched(std::size_t device) const;
  bool IsShared(std::size_t device) const;

 private:
  struct Device {
    std::int64_t free_memory = 0;
    std::int32_t owners = 0;   // Of the whole of it; more than one only if the host is overbooked.
    std::int32_t sharers = 0;  // Of parts of it.
  };

  // How many devices would do for one of the ask.
  std::int64_t CountUsable(const DeviceAsk& ask) const;
  bool Serves(std::size_t device, const std::string& type, std::int64_t memory_bytes) const;
  // Takes what the replica asks for.  False: there is not as much, and nothing was taken.
  bool Choose(const DeviceAsk& ask, std::vector<DeviceShare>& chosen);
  bool ChooseAll(const GangNeed& need, std::vector<std::vector<DeviceShare>>& chosen);
  void TakeDevice(const DeviceShare& share, int sign);
  // Sets aside what the asks choose, or, if that is too little, every device of the type.
  void Reserve(const std::vector<DeviceAsk>& asks, const std::string& type);

  const HostCapacity* host_;
  double cpus_;
  std::int64_t memory_bytes_;
  std::vector<Device> devices_;
};

// What `need` lacks of the room, in words: "needs 4 cpus, 2 free; needs 16 T4, 8 free". Empty: nothing.
std::string Shortfall(const GangNeed& need, const Room& free, const HostCapacity& host);
// The same of the empty host: "needs 4 cpus, this host has 2".
std::string Shortfall(const GangNeed& need, const HostCapacity& host);

// "4 cpus, 8 GiB of memory, 2 T4"; "nothing" of a gang that asks for nothing.
std::string Describe(const GangNeed& need);

}  // namespace vernier::launch
