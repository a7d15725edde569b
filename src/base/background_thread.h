#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "absl/time/time.h"

namespace vernier::base {

// A thread that runs `body`. Destroying it requests a stop and waits for the thread.
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

// A thread that repeats a step: when the pause that the last step returned is over, or after a Wake. Destroying it
// waits for the current step. Thread-safe.
class BackgroundLoop {
 public:
  explicit BackgroundLoop(std::function<absl::Duration()> step);
  ~BackgroundLoop();
  BackgroundLoop(const BackgroundLoop&) = delete;
  BackgroundLoop& operator=(const BackgroundLoop&) = delete;

  // Makes the next step start at once. Wakes during a step count for the next one; several count once.
  void Wake();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier::base
