#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "vernier/core/trial.h"

namespace vernier::launch {

// One sample of the devices of this host.
struct GpuSample {
  struct Device {
    std::string index;
    std::string uuid;
    // Fraction of the driver's sample period in which it computed; unset: not known.
    std::optional<double> utilization;
    std::int64_t used_bytes = 0;
    std::int64_t memory_bytes = 0;
  };
  std::vector<Device> devices;
};

// Adds a sample to the statistics of a replica whose devices are given by index or UUID. Does nothing if the sample has
// none of them.
void AddSample(const GpuSample& sample, const std::vector<std::string>& gpus, GpuUse& use);

// Measures how replicas use their GPUs: one sample a second from the driver's library, taken by a separate process
// (`vernier-supervisor --watch-gpus`), since a driver may hang. That process runs while a replica is watched, and ends
// with this one. Without the library nothing is measured. Not thread-safe; never blocks.
class GpuWatch {
 public:
  explicit GpuWatch(std::string supervisor, absl::Duration interval = absl::Seconds(1));
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  // Starts counting samples of the devices for the replica in the folder, in addition to those in its record. Repeated
  // calls have no effect.
  void Watch(const std::string& folder, const std::vector<std::string>& gpus);
  // Reads the samples that have arrived.
  void Read(absl::Time now);
  // Stops counting for the replica, and writes its record.
  void Forget(const std::string& folder);
  // The statistics of the replica, from its record if it is not watched.
  std::optional<GpuUse> UseOf(const std::string& folder) const;

 private:
  struct Watched {
    std::vector<std::string> gpus;
    GpuUse use;
    std::int64_t recorded = 0;  // Samples in its record.
  };

  void Start(absl::Time now);
  // Ends the process; the next one starts no earlier than `next`.
  void Stop(absl::Time next);
  void TakeLines();
  void Reap();

  const std::string supervisor_;
  const absl::Duration interval_;
  std::map<std::string, Watched> watched_;  // By folder.
  int output_ = -1;                         // Output of the process; -1: none runs.
  pid_t process_ = 0;
  std::vector<pid_t> ended_;  // Killed, not yet reaped.
  std::string unread_;        // An incomplete line.
  GpuSample sample_;          // Devices of the sample being read.
  absl::Time heard_;          // Time of the last output.
  absl::Time next_start_ = absl::InfinitePast();
};

}  // namespace vernier::launch
