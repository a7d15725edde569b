#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "vernier/core/clock.h"
#include "vernier/core/durations.h"

namespace vernier {

// Statistics of durations in the last five minutes. Keeps one sum for each of ten spans of half a minute, so that its
// memory is constant; old durations are dropped a span at a time. Thread-safe.
class RecentDurations {
 public:
  // Adds a duration. `now` must not decrease.
  void Add(absl::Time now, absl::Duration took);
  Durations Of(absl::Time now) const;

 private:
  struct Span {
    std::int64_t number = -1;  // Half minutes since 1970. -1: unused.
    std::int64_t count = 0;
    absl::Duration sum;
    absl::Duration longest;
  };
  static constexpr std::size_t kSpans = 10;

  mutable absl::Mutex mu_;
  std::array<Span, kSpans> spans_ ABSL_GUARDED_BY(mu_);
};

// Measures its own lifetime and adds it to the statistics.
class Timed {
 public:
  // `durations` and `clock` must outlive it.
  Timed(RecentDurations& durations, const Clock& clock)
      : durations_(durations), clock_(clock), begun_(clock.Now()) {}
  ~Timed() {
    const absl::Time now = clock_.Now();
    durations_.Add(now, now - begun_);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  RecentDurations& durations_;
  const Clock& clock_;
  const absl::Time begun_;
};

}  // namespace vernier
