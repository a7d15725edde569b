#include <ctime>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "src/base/steady_time.h"
#include "vernier/core/clock.h"

namespace vernier {
namespace {

// Time since boot, including suspension: CLOCK_MONOTONIC stops while the host is suspended (clock_gettime(2)).
absl::Duration Elapsed() {
  timespec time = {};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return absl::DurationFromTimespec(time);
}

class RealClock final : public Clock {
 public:
  absl::Time Now() const override {
    const absl::MutexLock lock(&mu_);
    const absl::Duration elapsed = Elapsed();
    return time_.At(absl::Now(), elapsed);
  }

 private:
  // SteadyTime remembers its last reading, so that reading the clock changes it.
  mutable absl::Mutex mu_;
  mutable base::SteadyTime time_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

std::unique_ptr<Clock> NewRealClock() { return std::make_unique<RealClock>(); }

}  // namespace vernier
