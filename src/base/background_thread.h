#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "absl/time/time.h"

namespace vernier::base {

// A thread that runs `body` and is told to stop, and waited for, when this is destroyed.
class BackgroundThread {
 public:
  explicit BackgroundThread(std::function<void(std::stop_token)> body);
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A thread that takes a step again and again: as soon as the time that the last step returned is over, or somebody woke
// it. Destroying it waits for the step under way. Thread-safe.
class BackgroundLoop {
 public:
  explicit BackgroundLoop(std::function<absl::Duration()> step);
  ~BackgroundLoop();
  BackgroundLoop(const BackgroundLoop&) = delete;
  BackgroundLoop& operator=(const BackgroundLoop&) = delete;

  // The next step comes at once, however many wake it.
  void Wake();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier::base
