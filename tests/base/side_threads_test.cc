#include "src/base/side_threads.h"

#include <atomic>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace vernier::base {
namespace {

TEST(SideThreads, RunEachWorkOnAThreadOfItsOwn) {
  constexpr int kWorks = 4;
  SideThreads threads;
  auto* const all_run = new absl::Barrier(kWorks + 1);  // Deleted by the one that leaves it last.
  for (int i = 0; i < kWorks; ++i) {
    threads.Run([all_run] {
      if (all_run->Block()) delete all_run;
    });
  }
  if (all_run->Block()) delete all_run;
}

TEST(SideThreads, AreWaitedForAtTheEnd) {
  absl::Notification go_on;
  std::atomic<int> ended = 0;
  {
    SideThreads threads;
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

TEST(SideThreads, WorkMayAddWork) {
  std::atomic<bool> ended = false;
  {
    SideThreads threads;
    absl::Notification added;
    threads.Run([&] {
      threads.Run([&] { ended = true; });
      added.Notify();
    });
    added.WaitForNotification();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace vernier::base
