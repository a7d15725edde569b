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

// Durations of the last five minutes, forgotten half a minute at a time. Takes the same memory however many they are.
// Thread-safe.
class RecentDurations {
 public:
  // `now` must not go back.
  void Add(absl::Time now, absl::Duration took);
  Durations Of(absl::Time now) const;

 private:
  struct Span {
    std::int64_t number = -1;  // Of half minutes since 1970; -1: none.
    std::int64_t count = 0;
    absl::Duration sum;
    absl::Duration longest;
  };
  static constexpr std::size_t kSpans = 10;

  mutable absl::Mutex mu_;
  std::array<Span, kSpans> spans_ ABSL_GUARDED_BY(mu_);
};

// Adds the time from its construction to its end.
class Timed {
 public:
  // Both must outlive it.
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
