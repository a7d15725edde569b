#pragma once

#include <memory>

#include "absl/time/time.h"

namespace vernier {

// Where the time comes from. Everything that needs the time is given one of these. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
};

// The system's clock. The only place in Vernier that reads it.
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
