#pragma once

#include <memory>

#include "absl/time/time.h"

namespace vernier {

// Where the time comes from. Everything that needs the time is given one of these. Differences of its readings are taken for
// durations, so it should not jump. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
};

// The system's clock as it stands now, from here on without its jumps: where it is put forward or back later, this one follows
// at one twentieth of the time that passes. The only place in Vernier that reads it.
std::unique_ptr<Clock> NewRealClock();

// A clock that moves only when told to. For tests and simulations. Thread-safe.
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
