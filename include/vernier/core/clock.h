#pragma once

#include <memory>

#include "absl/time/time.h"

namespace vernier {

// A source of the current time. Code that needs the time takes a Clock. Differences of readings are used as durations,
// so an implementation should not jump. Thread-safe; never blocks.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
};

// Makes a clock that starts with the system's time and advances with elapsed time. If the system's clock is set forward
// or back, this one does not jump but approaches it, by one twentieth of the time that passes. It never goes back.
std::unique_ptr<Clock> NewRealClock();

// A clock that moves only in Advance. For tests and simulations. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(absl::Time start);
  ~ManualClock() override;
  absl::Time Now() const override;
  void Advance(absl::Duration by);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier
