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

// One look at the devices of this host.
struct GpuSample {
  struct Device {
    std::string index;
    std::string uuid;
    // Share of the time since the look before in which it computed.
    std::optional<double> utilization;
    std::int64_t used_bytes = 0;
    std::int64_t memory_bytes = 0;
  };
  std::vector<Device> devices;
};

// Adds a sample to what is known of a replica that has the devices, given by index or UUID. One that has none of them adds
// nothing.
void AddSample(const GpuSample& sample, const std::vector<std::string>& gpus, GpuUse& use);

// What replicas make of their GPUs, as the driver's library tells it: a sample a second, taken by a process of its own
// (`vernier-supervisor --watch-gpus`), since a driver may hang. It runs while somebody is watched, and ends with this
// process. Where there is no such library nothing is known. Not thread-safe; never waits.
class GpuWatch {
 public:
  explicit GpuWatch(std::string supervisor, absl::Duration interval = absl::Seconds(1));
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  // From now on samples of the devices count for the replica in the folder, added to those that its record has from
  // before. Again: nothing changes.
  void Watch(const std::string& folder, const std::vector<std::string>& gpus);
  // Takes what came by now.
  void Read(absl::Time now);
  // No sample counts for it any more; its record is written.
  void Forget(const std::string& folder);
  // What is known of it, by its record if it is not watched.
  std::optional<GpuUse> UseOf(const std::string& folder) const;

 private:
  struct Watched {
    std::vector<std::string> gpus;
    GpuUse use;
    std::int64_t recorded = 0;  // So many samples are in its record.
  };

  void Start(absl::Time now);
  // Ends the process, and looks for the next one not before `next`.
  void Stop(absl::Time next);
  void TakeLines();
  void Reap();

  const std::string supervisor_;
  const absl::Duration interval_;
  std::map<std::string, Watched> watched_;  // By folder.
  int output_ = -1;                         // Of the process; -1: there is none.
  pid_t process_ = 0;
  std::vector<pid_t> ended_;  // Killed, and not reaped yet.
  std::string unread_;        // Less than a line.
  GpuSample sample_;          // Not complete yet.
  absl::Time heard_;          // When something came last.
  absl::Time next_start_ = absl::InfinitePast();
};

}  // namespace vernier::launch
