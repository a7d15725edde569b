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
  // `is_after_stop`: reported after the trial was told to stop.
  void Add(const std::vector<Objective>& objectives,
           const Measurement& measurement,
           bool is_after_stop);

  // `last` with the values, and for the first objective the step, by the objectives' own rules. A value that is NaN or
  // infinite stays, so that the trial is seen to have diverged; but one that came after the stop gives way to the last
  // finite value, if the trial had that when it was stopped.
  Measurement Apply(const std::vector<Objective>& objectives, Measurement last) const;

 private:
  using StepValue = std::pair<std::int64_t, double>;

  void NoteEnd(const std::string& metric, const StepValue& point, bool is_after_stop);
  void PutBackEnds(const std::vector<Objective>& objectives, Measurement& last) const;

  struct Curve {
    std::deque<StepValue> values;  // The best one, or the last ones, whose numbers are finite.
  };
  // By metric, of objectives that do not just take the last value.
  std::map<std::string, Curve> curves_;
  // By metric, the last finite value of each objective. None for one that was not finite when the trial was stopped, or
  // now if it was not.
  std::map<std::string, StepValue> ends_;
};

}  // namespace vernier::study
