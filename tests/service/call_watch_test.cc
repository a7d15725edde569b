#include "src/service/call_watch.h"

#include <atomic>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/background_thread.h"
#include "tests/support/status_matchers.h"

namespace vernier::service {
namespace {

using testing::StatusIs;

constexpr absl::Duration kLong = absl::Seconds(20);

TEST(CallWatch, FiresTheTokenOfACallThatNobodyWaitsFor) {
  CallWatch watch;
  const base::BackgroundThread thread([&](std::stop_token stop) { watch.Run(stop); });
  std::atomic<bool> gone = false;
  const CallWatch::Watched lost(watch, [&] { return gone.load(); });
  const CallWatch::Watched other(watch, [] { return false; });
  absl::Notification fired;
  const std::stop_callback notify(lost.token(), [&] { fired.Notify(); });
  gone = true;
  EXPECT_TRUE(fired.WaitForNotificationWithTimeout(kLong));
  EXPECT_FALSE(other.token().stop_requested());
}

TEST(CallWatch, WithoutCallsEndsWhenItIsToldTo) {
  CallWatch watch;
  const base::BackgroundThread thread([&](std::stop_token stop) { watch.Run(stop); });
}

TEST(CallWatch, ShutDownFiresEveryToken) {
  CallWatch watch;
  const CallWatch::Watched before(watch, [] { return false; });
  watch.Shutdown();
  EXPECT_TRUE(before.token().stop_requested());
  EXPECT_THAT(watch.Stopped(), StatusIs(absl::StatusCode::kUnavailable));
  const CallWatch::Watched after(watch, [] { return false; });
  EXPECT_TRUE(after.token().stop_requested());
}

// A waiter may take its own lock, which it also holds while it looks at the watch.
TEST(CallWatch, CallsBackWithoutItsLock) {
  CallWatch watch;
  const CallWatch::Watched call(watch, [] { return false; });
  absl::Status stopped;
  const std::stop_callback look(call.token(), [&] { stopped = watch.Stopped(); });
  watch.Shutdown();
  EXPECT_THAT(stopped, StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace vernier::service
