#include "src/base/thread_pool.h"

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::base {
namespace {

using ::testing::ElementsAre;

TEST(ThreadPool, DoesAllWorkBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(4);
    for (int i = 0; i < 1000; ++i) pool.Run([&done] { ++done; });
  }
  EXPECT_EQ(done, 1000);
}

TEST(ThreadPool, OneThreadKeepsTheOrder) {
  std::vector<int> order;
  {
    ThreadPool pool(1);
    for (int i = 0; i < 3; ++i) pool.Run([&order, i] { order.push_back(i); });
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST(ThreadPool, RunsAsManyPiecesAtOnceAsItHasThreads) {
  constexpr int kThreads = 3;
  // Nobody passes the barrier until all three are there; a smaller pool would hang here.
  auto* const barrier = new absl::Barrier(kThreads);
  std::atomic<int> passed = 0;
  {
    ThreadPool pool(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      pool.Run([barrier, &passed] {
        const bool last = barrier->Block();
        ++passed;
        if (last) delete barrier;
      });
    }
  }
  EXPECT_EQ(passed, kThreads);
}

TEST(ThreadPool, WorkMayGiveMoreWork) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(2);
    pool.Run([&] {
      ++done;
      pool.Run([&] {
        ++done;
        pool.Run([&] { ++done; });
      });
    });
  }
  EXPECT_EQ(done, 3);
}

TEST(ThreadPool, TakesWorkFromManyThreads) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(2);
    std::vector<std::thread> givers;
    for (int i = 0; i < 4; ++i) {
      givers.emplace_back([&] {
        for (int k = 0; k < 250; ++k) pool.Run([&done] { ++done; });
      });
    }
    for (std::thread& giver : givers) giver.join();
  }
  EXPECT_EQ(done, 1000);
}

TEST(ThreadPoolDeathTest, NeedsThreadsAndWork) {
  EXPECT_DEATH(ThreadPool(0), "without threads");
  EXPECT_DEATH(ThreadPool(1).Run(nullptr), "no work was given");
}

}  // namespace
}  // namespace vernier::base
