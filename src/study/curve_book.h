#pragma once

#include <cstdint>
#include <vector>

#include "vernier/core/ids.h"
#include "vernier/early_stopper.h"

namespace vernier::study {

// The learning curves of a study's trials, in the order of their numbers. Not thread-safe.
class CurveBook {
 public:
  // Opens the curve of the next trial.
  void AddTrial(TrialNumber trial);
  // A later value of the same step replaces the earlier.
  void AddPoint(TrialNumber trial, std::int64_t step, double value);
  void MarkFinished(TrialNumber trial);
  // Leaves an empty curve that did not finish.
  void Forget(TrialNumber trial);

  // What `rule` says of the trial, all others beside it. Moves the curve aside and back instead of copying the book:
  // that costs as much as there are later trials, which for a running one are few.
  Verdict Judge(const EarlyStopper& rule, TrialNumber trial);

  const Curve& Get(TrialNumber trial) const;

 private:
  std::vector<Curve> curves_;  // Of trial n at n - 1.
};

}  // namespace vernier::study
