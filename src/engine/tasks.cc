#include "src/engine/tasks.h"

namespace vernier::engine {

Tasks::~Tasks() {
  // Work that was handed in refers to this object (End), so it must have ended.
  stop_.request_stop();
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(
      +[](std::int64_t* running) { return *running == 0; }, &running_));
}

void Tasks::Run(std::function<void(const std::stop_token& stop, Done done)> work) {
  {
    absl::MutexLock lock(&mu_);
    // Counted here, and not when it begins: the destructor must also wait for work that is still in line.
    ++running_;
  }
  auto run = [this, work = std::move(work)] { work(stop_.get_token(), [this] { End(); }); };
  if (executor_ == nullptr) return run();
  executor_->Run(std::move(run));
}

void Tasks::End() {
  absl::MutexLock lock(&mu_);
  --running_;
}

}  // namespace vernier::engine
