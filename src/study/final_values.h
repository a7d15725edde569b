#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vernier/core/study.h"
#include "vernier/core/trial.h"

namespace vernier::study {

// The part of a trial's curves that its final values are computed from (Objective::final). Its size
// is bounded by the objectives. Not thread-safe.
class FinalValues {
 public:
  void Add(const std::vector<Objective>& objectives, const Measurement& measurement);

  // `last` with the values, and for the first objective the step, by the objectives' own rules. A value that is NaN or
  // infinite stays, so that the trial is seen to have diverged.
  Measurement Apply(const std::vector<Objective>& objectives, Measurement last) const;

 private:
  using StepValue = std::pair<std::int64_t, double>;
  struct Curve {
    std::deque<StepValue> values;  // The best one, or the last ones, whose numbers are finite.
  };
  // By metric, of objectives that do not just take the last value.
  std::map<std::string, Curve> curves_;
};

}  // namespace vernier::study
