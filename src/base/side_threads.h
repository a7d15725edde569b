#pragma once

#include <functional>
#include <memory>

namespace vernier::base {

// Runs what may block on a thread of its own, for callers that must not. Destroying it waits for all that runs.
// Thread-safe.
class SideThreads {
 public:
  SideThreads();
  ~SideThreads();
  SideThreads(const SideThreads&) = delete;
  SideThreads& operator=(const SideThreads&) = delete;

  // Returns at once.
  void Run(std::function<void()> work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier::base
