#include "src/core/recent_durations.h"

#include "gtest/gtest.h"

namespace vernier {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

TEST(RecentDurations, AreNoneAtFirst) { EXPECT_EQ(RecentDurations().Of(kStart), Durations()); }

TEST(RecentDurations, HaveAMeanAndALongest) {
  RecentDurations durations;
  for (const int milliseconds : {10, 30, 20}) {
    durations.Add(kStart, absl::Milliseconds(milliseconds));
  }
  EXPECT_EQ(
      durations.Of(kStart),
      (Durations{.count = 3, .mean = absl::Milliseconds(20), .longest = absl::Milliseconds(30)}));
}

TEST(RecentDurations, AreForgottenAfterFiveMinutes) {
  RecentDurations durations;
  durations.Add(kStart, absl::Seconds(3));
  durations.Add(kStart + absl::Minutes(3), absl::Seconds(1));
  EXPECT_EQ(durations.Of(kStart + absl::Minutes(4)).longest, absl::Seconds(3));
  const Durations later = durations.Of(kStart + absl::Minutes(5));
  EXPECT_EQ(later.count, 1);
  EXPECT_EQ(later.longest, absl::Seconds(1));
  EXPECT_EQ(durations.Of(kStart + absl::Hours(2)).count, 0);
  durations.Add(kStart + absl::Hours(2), absl::Seconds(2));  // In the place of an old one.
  EXPECT_EQ(durations.Of(kStart + absl::Hours(2)).count, 1);
}

TEST(RecentDurations, AreMeasuredByTheClock) {
  RecentDurations durations;
  ManualClock clock(kStart);
  {
    const Timed timed(durations, clock);
    clock.Advance(absl::Milliseconds(250));
  }
  EXPECT_EQ(durations.Of(clock.Now()).longest, absl::Milliseconds(250));
}

}  // namespace
}  // namespace vernier
