#include "src/base/side_threads.h"

#include <list>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace vernier::base {

struct SideThreads::State {
  void End(std::list<std::thread>::iterator thread) {
    const absl::MutexLock lock(&mu);
    ended.splice(ended.end(), running, thread);
  }

  absl::Mutex mu;
  std::list<std::thread> running ABSL_GUARDED_BY(mu);
  std::list<std::thread> ended ABSL_GUARDED_BY(mu);  // To be joined, which takes no time.
};

SideThreads::SideThreads() : state_(std::make_unique<State>()) {}

SideThreads::~SideThreads() {
  std::list<std::thread> threads;
  {
    const absl::MutexLock lock(&state_->mu);
    const auto none_runs = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mu) {
      return state_->running.empty();
    };
    state_->mu.Await(absl::Condition(&none_runs));
    threads.swap(state_->ended);
  }
  for (std::thread& thread : threads) thread.join();
}

void SideThreads::Run(std::function<void()> work) {
  std::list<std::thread> ended;
  {
    const absl::MutexLock lock(&state_->mu);
    ended.swap(state_->ended);
    const auto place = state_->running.emplace(state_->running.end());
    *place = std::thread([state = state_.get(), place, work = std::move(work)] {
      work();
      state->End(place);
    });
  }
  for (std::thread& thread : ended) thread.join();
}

}  // namespace vernier::base
