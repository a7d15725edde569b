#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

namespace vernier::launch {

// What becomes of a gang that asks for more than the empty host has: it is refused, or its shares are made smaller.
enum class Fitting { kStrict, kScaled };

struct GpuDevice {
  std::string id;                 // As CUDA_VISIBLE_DEVICES takes it.
  std::string type;               // "T4"; empty: of no particular type.
  std::int64_t memory_bytes = 0;  // 0: not known.
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct HostCapacity {
  double cpus = 0;
  std::int64_t memory_bytes = 0;
  std::vector<GpuDevice> gpus;
};

// Device ids for each replica of a gang, in its order.
using GpuAssignment = std::vector<std::vector<std::string>>;

// Who holds how much of one host. Gangs get all they ask for or nothing. Not thread-safe.
class CapacityBook {
 public:
  explicit CapacityBook(HostCapacity capacity);

  // InvalidArgument: more than the empty host has ("needs 4 cpus, this host has 2").
  absl::Status CheckFits(const std::vector<ReplicaRequest>& replicas) const;

  // ResourceExhausted (kInsufficientCapacity): not now ("needs 4 cpus, 2 free").  InvalidArgument: as CheckFits.
  // REQUIRES: the attempt holds nothing yet.
  absl::StatusOr<GpuAssignment> Reserve(const AttemptId& id,
                                        const std::vector<ReplicaRequest>& replicas);

  // Books what an attempt holds already, even beyond what there is: it runs, whatever we think of it.
  void Take(const AttemptId& id,
            const std::vector<ReplicaRequest>& replicas,
            const Placement& placement);

  void Release(const AttemptId& id);

 private:
  struct Need {
    double cpus = 0;
    std::int64_t memory_bytes = 0;
    std::map<std::string, std::int64_t> gpus;  // By type; "" is any type.
  };
  struct Holding {
    double cpus = 0;
    std::int64_t memory_bytes = 0;
    std::vector<std::string> gpus;
  };

  static Need Sum(const std::vector<ReplicaRequest>& replicas);
  // What `need` lacks of the given capacity, in words; empty: nothing. `is_host`: of the empty host.
  static std::string Shortfall(const Need& need, const HostCapacity& available, bool is_host);
  HostCapacity Free() const;

  const HostCapacity capacity_;
  std::map<AttemptId, Holding> holdings_;
};

}  // namespace vernier::launch
