#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "src/base/thread_pool.h"

namespace vernier::base {

// Runs work that may block or take long, on threads of its own: for each key one piece at a time, in order of arrival.
// Keys take turns, so that a long queue of one key occupies no thread and delays no other key. Destroying it waits for
// all work.
class KeyedThreads {
 public:
  // `most_threads`: number of keys served at the same time.
  explicit KeyedThreads(int most_threads) : threads_(most_threads) {}

  // Returns at once.
  void Run(std::int64_t key, std::function<void()> work);

 private:
  void RunNext(std::int64_t key);

  absl::Mutex mu_;
  // Waiting work of each key that is being served.
  absl::flat_hash_map<std::int64_t, std::deque<std::function<void()>>> waiting_
      ABSL_GUARDED_BY(mu_);
  ThreadPool threads_;  // Last member, so destroyed first: it uses the others.
};

}  // namespace vernier::base
