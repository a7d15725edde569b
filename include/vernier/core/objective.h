#pragma once

#include <cstdint>
#include <string>

namespace vernier {

enum class Goal { kMaximize, kMinimize };

// Which value of its curve an objective of a completed trial counts with.
enum class FinalValue { kLast, kBest, kMeanOfLast };

struct Objective {
  std::string metric;
  Goal goal = Goal::kMaximize;
  FinalValue final = FinalValue::kLast;
  std::int32_t final_count = 1;  // With kMeanOfLast: number of values in the mean, 1 to 1000.
  friend bool operator==(const Objective&, const Objective&) = default;
};

// True if `a` is better than `b`. NaN is worse than everything.
bool IsBetter(Goal goal, double a, double b);

}  // namespace vernier
