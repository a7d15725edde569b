#include "src/base/keyed_threads.h"

#include <utility>

namespace vernier::base {

void KeyedThreads::Run(std::int64_t key, std::function<void()> work) {
  {
    const absl::MutexLock lock(&mu_);
    std::deque<std::function<void()>>& waiting = waiting_[key];
    waiting.push_back(std::move(work));
    if (waiting.size() > 1) return;  // A thread already serves the key.
  }
  threads_.Run([this, key] { RunNext(key); });
}

void KeyedThreads::RunNext(std::int64_t key) {
  std::function<void()> work;
  {
    const absl::MutexLock lock(&mu_);
    // The (now empty) entry stays in front until the work has run: a non-empty queue marks the key as being served.
    work = std::move(waiting_[key].front());
  }
  work();
  {
    const absl::MutexLock lock(&mu_);
    const auto served = waiting_.find(key);
    served->second.pop_front();
    if (served->second.empty()) {
      waiting_.erase(served);
      return;
    }
  }
  threads_.Run([this, key] { RunNext(key); });  // Queued after the waiting keys.
}

}  // namespace vernier::base
