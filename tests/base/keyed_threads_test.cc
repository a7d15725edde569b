#include "src/base/keyed_threads.h"

#include <atomic>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::base {
namespace {

using ::testing::ElementsAre;

TEST(KeyedThreads, RunWorkOfAKeyInOrderAndOneAtATime) {
  std::vector<int> order;  // Written by one at a time, or ThreadSanitizer says so.
  {
    KeyedThreads threads(4);
    for (int i = 0; i < 100; ++i) threads.Run(7, [&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(KeyedThreads, AKeyWithMuchToDoHoldsNoThreadThatAnotherNeeds) {
  absl::Notification go_on;
  absl::Notification other_ran;
  std::atomic<int> ran = 0;
  {
    KeyedThreads threads(2);
    for (int i = 0; i < 50; ++i) {
      threads.Run(1, [&] {
        go_on.WaitForNotification();
        ++ran;
      });
    }
    threads.Run(2, [&] { other_ran.Notify(); });
    other_ran.WaitForNotification();
    EXPECT_EQ(ran, 0);
    go_on.Notify();
  }
  EXPECT_EQ(ran, 50);
}

TEST(KeyedThreads, KeysTakeTurns) {
  absl::Notification go_on;
  std::vector<int> order;  // By the one thread there is.
  {
    KeyedThreads threads(1);
    threads.Run(1, [&] { go_on.WaitForNotification(); });
    for (int i = 0; i < 3; ++i) threads.Run(1, [&] { order.push_back(1); });
    for (int i = 0; i < 2; ++i) threads.Run(2, [&] { order.push_back(2); });
    go_on.Notify();
  }
  EXPECT_THAT(order, ElementsAre(2, 1, 2, 1, 1));
}

TEST(KeyedThreads, WorkMayAddWork) {
  std::atomic<int> ran = 0;
  {
    KeyedThreads threads(1);
    threads.Run(1, [&] {
      ++ran;
      threads.Run(1, [&] { ++ran; });
      threads.Run(2, [&] { ++ran; });
    });
  }
  EXPECT_EQ(ran, 3);
}

}  // namespace
}  // namespace vernier::base
