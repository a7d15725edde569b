#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "vernier/core/executor.h"

namespace vernier::engine {

// Work of an engine that its steps do not wait for. Destroying it tells the work to stop, and waits for it.
class Tasks {
 public:
  // Null: work runs at once.
  explicit Tasks(Executor* executor) : executor_(executor) {}
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // `work` calls what it is given when it is done: once, from any thread, maybe after it returned.
  using Done = std::function<void()>;
  void Run(std::function<void(const std::stop_token& stop, Done done)> work);

 private:
  void End();

  Executor* const executor_;
  std::stop_source stop_;
  absl::Mutex mu_;
  std::int64_t running_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vernier::engine
