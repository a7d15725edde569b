#include "src/base/thread_pool.h"

#include <cstddef>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace vernier::base {

struct ThreadPool::State {
  explicit State(int most_threads) : most(static_cast<std::size_t>(most_threads)) {}

  void RunThread() {
    while (const std::function<void()> work = Next()) work();
  }

  // The next piece of work; null: the pool ends and none is left.
  std::function<void()> Next() {
    const absl::MutexLock lock(&mu);
    ++idle;
    const auto ready = [this]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return !waiting.empty() || ended; };
    mu.Await(absl::Condition(&ready));
    --idle;
    if (waiting.empty()) return nullptr;
    std::function<void()> work = std::move(waiting.front());
    waiting.pop_front();
    return work;
  }

  const std::size_t most;
  absl::Mutex mu;
  std::deque<std::function<void()>> waiting ABSL_GUARDED_BY(mu);
  std::vector<std::thread> threads ABSL_GUARDED_BY(mu);
  std::size_t idle ABSL_GUARDED_BY(mu) = 0;
  bool ended ABSL_GUARDED_BY(mu) = false;
};

ThreadPool::ThreadPool(int most_threads) : state_(std::make_unique<State>(most_threads)) {}

ThreadPool::~ThreadPool() {
  std::vector<std::thread> threads;
  {
    const absl::MutexLock lock(&state_->mu);
    const auto done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mu) {
      return state_->waiting.empty() && state_->idle == state_->threads.size();
    };
    // Running work may add more, so wait until none is left and all threads are idle before ending.
    state_->mu.Await(absl::Condition(&done));
    state_->ended = true;
    threads.swap(state_->threads);
  }
  for (std::thread& thread : threads) thread.join();
}

void ThreadPool::Run(std::function<void()> work) {
  const absl::MutexLock lock(&state_->mu);
  state_->waiting.push_back(std::move(work));
  // An idle thread will take it. `idle` counts threads that have not woken yet, so compare with all that waits.
  if (state_->waiting.size() <= state_->idle || state_->threads.size() == state_->most) return;
  state_->threads.emplace_back([state = state_.get()] { state->RunThread(); });
}

}  // namespace vernier::base
