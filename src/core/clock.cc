#include "vernier/core/clock.h"

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace vernier {

// Behind a pointer, so that the public header needs no mutex.
struct ManualClock::State {
  absl::Mutex mu;
  absl::Time now ABSL_GUARDED_BY(mu);
};

ManualClock::ManualClock(absl::Time start) : state_(std::make_unique<State>()) {
  const absl::MutexLock lock(&state_->mu);
  state_->now = start;
}

ManualClock::~ManualClock() = default;

absl::Time ManualClock::Now() const {
  const absl::MutexLock lock(&state_->mu);
  return state_->now;
}

void ManualClock::Advance(absl::Duration by) {
  const absl::MutexLock lock(&state_->mu);
  state_->now += by;
}

}  // namespace vernier
