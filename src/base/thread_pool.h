#pragma once

#include <functional>
#include <memory>

#include "vernier/core/executor.h"

namespace vernier::base {

// Runs work that may block or take long on its own threads: at once while fewer than `most_threads` are busy, otherwise
// in order of arrival. Threads are started on demand and kept. Destroying it waits for all work.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int most_threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Returns at once.
  void Run(std::function<void()> work) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier::base
