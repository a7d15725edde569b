#pragma once

#include <functional>
#include <memory>

#include "vernier/core/executor.h"

namespace vernier::base {

// An Executor over a fixed number of threads; work starts in the order in which it was given. Thread-safe.
class ThreadPool final : public Executor {
 public:
  // REQUIRES: threads >= 1.
  explicit ThreadPool(int threads);
  // Waits until all work that was given is done.
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Never blocks on other work. Work may give more work.
  void Run(std::function<void()> work) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier::base
