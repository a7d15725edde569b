#include "src/base/thread_pool.h"

#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "src/core/check.h"

namespace vernier::base {

struct ThreadPool::State {
  void Work() {
    while (const std::function<void()> work = Next()) work();
  }

  // The next piece of work; none when the pool ends and all work is taken.
  std::function<void()> Next() {
    const auto ready = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu) { return ending || !queue.empty(); };
    const absl::MutexLock lock(&mu, absl::Condition(&ready));
    if (queue.empty()) return nullptr;
    std::function<void()> work = std::move(queue.front());
    queue.pop_front();
    return work;
  }

  absl::Mutex mu;
  std::deque<std::function<void()>> queue ABSL_GUARDED_BY(mu);
  bool ending ABSL_GUARDED_BY(mu) = false;
  std::vector<std::thread> threads;
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  VERNIER_CHECK(threads >= 1, "a thread pool without threads");
  for (int i = 0; i < threads; ++i) {
    state_->threads.emplace_back([state = state_.get()] { state->Work(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const absl::MutexLock lock(&state_->mu);
    state_->ending = true;
  }
  for (std::thread& thread : state_->threads) thread.join();
}

void ThreadPool::Run(std::function<void()> work) {
  VERNIER_CHECK(work != nullptr, "no work was given");
  const absl::MutexLock lock(&state_->mu);
  state_->queue.push_back(std::move(work));
}

}  // namespace vernier::base
