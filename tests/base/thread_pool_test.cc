#include "src/base/thread_pool.h"

#include <atomic>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace vernier::base {
namespace {

TEST(ThreadPool, RunsWorkAtOnceWhileAThreadIsFree) {
  constexpr int kWorks = 4;
  ThreadPool threads(kWorks);
  auto* const all_run = new absl::Barrier(kWorks + 1);  // Deleted by the one that leaves it last.
  for (int i = 0; i < kWorks; ++i) {
    threads.Run([all_run] {
      if (all_run->Block()) delete all_run;
    });
  }
  if (all_run->Block()) delete all_run;
}

TEST(ThreadPool, WaitsForAllWorkAtTheEnd) {
  absl::Notification go_on;
  std::atomic<int> ended = 0;
  {
    ThreadPool threads(2);
    for (int i = 0; i < 3; ++i) {
      threads.Run([&] {
        go_on.WaitForNotification();
        ++ended;
      });
    }
    EXPECT_EQ(ended, 0);
    go_on.Notify();
  }
  EXPECT_EQ(ended, 3);
}

TEST(ThreadPool, TakesWorkFromWork) {
  std::atomic<bool> ended = false;
  {
    ThreadPool threads(1);
    absl::Notification added;
    threads.Run([&] {
      threads.Run([&] { ended = true; });
      added.Notify();
    });
    added.WaitForNotification();
  }
  EXPECT_TRUE(ended);
}

// Work beyond the bound waits, in its order.
TEST(ThreadPool, NeverHasMoreThreadsThanItMay) {
  constexpr int kMost = 2;
  constexpr int kWorks = 20;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> ended = 0;
  {
    ThreadPool threads(kMost);
    for (int i = 0; i < kWorks; ++i) {
      threads.Run([&] {
        const int now = ++running;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        --running;
        ++ended;
      });
    }
  }
  EXPECT_EQ(ended, kWorks);
  EXPECT_LE(most, kMost);
}

TEST(ThreadPool, OfOneThreadKeepsTheOrder) {
  std::vector<int> order;
  {
    ThreadPool threads(1);
    for (int i = 0; i < 5; ++i) threads.Run([&order, i] { order.push_back(i); });
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace vernier::base
