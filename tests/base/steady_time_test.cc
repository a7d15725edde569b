#include "src/base/steady_time.h"

#include "gtest/gtest.h"

namespace vernier::base {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

// A host whose clock somebody puts forward and back.
class Host {
 public:
  absl::Time Read() { return time_.At(kStart + passed_ + jumped_, absl::Hours(7) + passed_); }
  // The last reading after so many of them a second apart.
  absl::Time Pass(absl::Duration time) {
    absl::Time last = Read();
    for (absl::Duration done; done < time; done += absl::Seconds(1)) {
      passed_ += absl::Seconds(1);
      const absl::Time now = Read();
      EXPECT_GE(now, last);
      last = now;
    }
    return last;
  }
  void Jump(absl::Duration by) { jumped_ += by; }

 private:
  SteadyTime time_;
  absl::Duration passed_;
  absl::Duration jumped_;
};

TEST(SteadyTime, IsThatOfTheSystemWhileNobodyMovesIt) {
  Host host;
  EXPECT_EQ(host.Read(), kStart);
  EXPECT_EQ(host.Pass(absl::Hours(1)), kStart + absl::Hours(1));
}

TEST(SteadyTime, DoesNotJump) {
  for (const absl::Duration jump : {absl::Hours(1), -absl::Hours(1), absl::Hours(24 * 365)}) {
    Host host;
    host.Read();
    host.Jump(jump);
    const absl::Duration minute = host.Pass(absl::Minutes(1)) - kStart;
    EXPECT_GE(minute, absl::Seconds(57)) << jump;
    EXPECT_LE(minute, absl::Seconds(63)) << jump;
  }
}

TEST(SteadyTime, HasForgottenAJumpThatWasTakenBack) {
  Host host;
  host.Read();
  host.Jump(absl::Hours(1));
  host.Pass(absl::Minutes(1));
  host.Jump(-absl::Hours(1));
  EXPECT_EQ(host.Pass(absl::Minutes(2)), kStart + absl::Minutes(3));
}

TEST(SteadyTime, ComesToTheSystemsTimeInTheEnd) {
  Host host;
  host.Read();
  host.Jump(absl::Minutes(1));
  EXPECT_EQ(host.Pass(absl::Minutes(21)), kStart + absl::Minutes(22));
  host.Jump(-absl::Minutes(1));
  EXPECT_EQ(host.Pass(absl::Minutes(21)), kStart + absl::Minutes(42));
}

}  // namespace
}  // namespace vernier::base
