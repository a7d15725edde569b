#include "src/core/recent_durations.h"

#include <algorithm>

namespace vernier {
namespace {

// A choice: ten spans cover the five minutes that Durations promises, the current span included.
constexpr std::int64_t kSpanSeconds = 30;

std::int64_t SpanOf(absl::Time time) { return absl::ToUnixSeconds(time) / kSpanSeconds; }

}  // namespace

void RecentDurations::Add(absl::Time now, absl::Duration took) {
  const std::int64_t number = SpanOf(now);
  absl::MutexLock lock(&mu_);
  Span& span = spans_[static_cast<std::size_t>(number) % kSpans];
  // The place still has a span of an earlier round.
  if (span.number != number) span = {.number = number};
  ++span.count;
  span.sum += took;
  span.longest = std::max(span.longest, took);
}

Durations RecentDurations::Of(absl::Time now) const {
  const std::int64_t last = SpanOf(now);
  Durations all;
  absl::Duration sum;
  absl::MutexLock lock(&mu_);
  for (const Span& span : spans_) {
    // Another thread may have begun a later span since the caller looked at the clock.
    if (span.number <= last - static_cast<std::int64_t>(kSpans) || span.number > last) continue;
    all.count += span.count;
    sum += span.sum;
    all.longest = std::max(all.longest, span.longest);
  }
  if (all.count > 0) all.mean = sum / all.count;
  return all;
}

}  // namespace vernier
