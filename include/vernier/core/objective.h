#pragma once

#include <cstdint>
#include <string>

namespace vernier {

enum class Goal { kMaximize, kMinimize };

// The value of a completed trial in an objective: the last one of its curve, the best one, or the mean of the last
// Objective::final_count ones. kBest and kMeanOfLast skip NaN and infinities, unless the last value is one: that value
// then counts, so that the trial is seen to have diverged.
enum class FinalValue { kLast, kBest, kMeanOfLast };

// A metric to maximize or minimize.
struct Objective {
  std::string metric;
  Goal goal = Goal::kMaximize;
  FinalValue final = FinalValue::kLast;
  std::int32_t final_count = 1;  // With kMeanOfLast: number of values in the mean, 1 to 1000.
  friend bool operator==(const Objective&, const Objective&) = default;
};

// Returns whether `a` is strictly better than `b`. NaN is worse than every number, and not better than NaN.
bool IsBetter(Goal goal, double a, double b);

}  // namespace vernier
