#include "src/base/background_thread.h"

#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace vernier::base {

struct BackgroundThread::State {
  std::jthread thread;
};

BackgroundThread::BackgroundThread(std::function<void(std::stop_token)> body)
    : state_(std::make_unique<State>(State{std::jthread(std::move(body))})) {}

BackgroundThread::~BackgroundThread() = default;

struct BackgroundLoop::State {
  explicit State(std::function<absl::Duration()> the_step) : step(std::move(the_step)) {}

  void Run() {
    while (Await(step())) {
    }
  }

  // Waits until the time is over or Wake was called.  False: the loop ends.
  bool Await(absl::Duration time) {
    absl::MutexLock lock(&mu);
    const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return woken || stopping; };
    mu.AwaitWithTimeout(absl::Condition(&ready), time);
    woken = false;
    return !stopping;
  }

  void Set(bool State::*flag) {
    absl::MutexLock lock(&mu);
    this->*flag = true;
  }

  const std::function<absl::Duration()> step;
  absl::Mutex mu;
  bool woken ABSL_GUARDED_BY(mu) = false;
  bool stopping ABSL_GUARDED_BY(mu) = false;
  std::thread thread;
};

BackgroundLoop::BackgroundLoop(std::function<absl::Duration()> step)
    : state_(std::make_unique<State>(std::move(step))) {
  // Started last: the thread uses all of the state.
  state_->thread = std::thread([state = state_.get()] { state->Run(); });
}

BackgroundLoop::~BackgroundLoop() {
  state_->Set(&State::stopping);
  state_->thread.join();
}

void BackgroundLoop::Wake() { state_->Set(&State::woken); }

}  // namespace vernier::base
