#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/core/ids.h"

namespace vernier {

struct CurvePoint {
  std::int64_t step = 0;
  double value = 0;  // The objective, user's units and sign. May be NaN.
};

// The learning curve of one trial, in the order of its steps (a later report of the same step replaces the earlier).
struct Curve {
  TrialNumber trial;
  bool finished = false;  // The trial completed (stopped early or not).
  std::vector<CurvePoint> points;
};

struct Verdict {
  bool stop = false;
  std::map<std::string, double> numbers;  // What was compared.
  std::string explanation;                // One sentence with the numbers, whatever the verdict.
};

// Judges whether a running trial is worth going on. Pure: equal curves give equal verdicts.
// Thread safety: const calls may run concurrently.
class EarlyStopper {
 public:
  virtual ~EarlyStopper() = default;
  EarlyStopper(const EarlyStopper&) = delete;
  EarlyStopper& operator=(const EarlyStopper&) = delete;

  virtual std::string_view name() const = 0;
  virtual std::string_view version() const = 0;
  // The options in force, defaults filled in, as JSON with sorted keys.
  virtual std::string options() const = 0;

  // `others` are the curves of the study's other trials, in the order of their numbers.
  virtual Verdict Judge(const Curve& running, std::span<const Curve> others) const = 0;

 protected:
  EarlyStopper() = default;
};

}  // namespace vernier
