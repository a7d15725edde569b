#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "src/base/thread_pool.h"

namespace vernier::base {

// Runs work that may block or take long, one piece at a time for each key, in the order in which it came. Keys take turns: what
// waits under one, however much, holds neither a thread nor another key up. Destroying it waits for all work.
class KeyedThreads {
 public:
  // So many keys are served at once.
  explicit KeyedThreads(int most_threads) : threads_(most_threads) {}

  // Returns at once.
  void Run(std::int64_t key, std::function<void()> work);

 private:
  void RunNext(std::int64_t key);

  absl::Mutex mu_;
  // Of each key that is being served: what waits.
  absl::flat_hash_map<std::int64_t, std::deque<std::function<void()>>> waiting_
      ABSL_GUARDED_BY(mu_);
  ThreadPool threads_;  // Goes first, since it uses the above.
};

}  // namespace vernier::base
