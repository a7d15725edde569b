#include "src/base/background_thread.h"

#include <atomic>
#include <memory>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace vernier::base {
namespace {

// Long enough that only a bug reaches it.
constexpr absl::Duration kPatience = absl::Seconds(30);

TEST(BackgroundThread, IsToldToStopAndWaitedFor) {
  absl::Notification started;
  std::atomic<bool> ended = false;
  {
    const BackgroundThread thread([&](std::stop_token stop) {
      absl::Notification stopping;
      const std::stop_callback wake(stop, [&stopping] { stopping.Notify(); });
      started.Notify();
      stopping.WaitForNotification();
      ended = true;
    });
    ASSERT_TRUE(started.WaitForNotificationWithTimeout(kPatience));
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

TEST(BackgroundLoop, StepsAgainWhenTheTimeIsOver) {
  absl::BlockingCounter steps(5);
  std::atomic<int> left = 5;
  const BackgroundLoop loop([&] {
    if (left > 0) {
      --left;
      steps.DecrementCount();
    }
    return left > 0 ? absl::Milliseconds(1) : absl::InfiniteDuration();
  });
  steps.Wait();
  EXPECT_EQ(left, 0);
}

TEST(BackgroundLoop, StepsAtOnceWhenThereIsMoreToDo) {
  absl::Notification done;
  int steps = 0;
  const BackgroundLoop loop([&] {
    if (++steps == 1000) done.Notify();
    return steps < 1000 ? absl::ZeroDuration() : absl::InfiniteDuration();
  });
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(kPatience));
}

TEST(BackgroundLoop, WakesFromAnEndlessWait) {
  absl::Notification first, second;
  int steps = 0;
  BackgroundLoop loop([&] {
    if (++steps == 1) first.Notify();
    if (steps == 2) second.Notify();
    return absl::InfiniteDuration();
  });
  ASSERT_TRUE(first.WaitForNotificationWithTimeout(kPatience));
  loop.Wake();
  EXPECT_TRUE(second.WaitForNotificationWithTimeout(kPatience));
}

TEST(BackgroundLoop, RemembersAWakeDuringAStep) {
  absl::Notification in_first, woken, second;
  int steps = 0;
  BackgroundLoop loop([&] {
    if (++steps == 1) {
      in_first.Notify();
      woken.WaitForNotification();
    } else if (steps == 2) {
      second.Notify();
    }
    return absl::InfiniteDuration();
  });
  in_first.WaitForNotification();
  loop.Wake();
  loop.Wake();
  woken.Notify();
  EXPECT_TRUE(second.WaitForNotificationWithTimeout(kPatience));
}

TEST(BackgroundLoop, EndsDuringAnEndlessWaitAndStepsNoMore) {
  auto steps = std::make_shared<std::atomic<int>>(0);
  auto first = std::make_shared<absl::Notification>();
  auto loop = std::make_unique<BackgroundLoop>([steps, first] {
    if (++*steps == 1) first->Notify();
    return absl::InfiniteDuration();
  });
  first->WaitForNotification();
  loop.reset();
  EXPECT_EQ(*steps, 1);
}

}  // namespace
}  // namespace vernier::base
