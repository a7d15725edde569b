#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vernier/core/space.h"
#include "vernier/early_stopper.h"

namespace vernier::testing {

using Options = std::map<std::string, ParameterValue>;

// A curve with these values at steps 1, 2, 3 …
inline Curve MakeCurve(const std::vector<double>& values, bool finished = true) {
  Curve curve{.trial = TrialNumber(1), .finished = finished};
  for (const double value : values) {
    curve.points.push_back(
        {.step = static_cast<std::int64_t>(curve.points.size()) + 1, .value = value});
  }
  return curve;
}
inline Curve Running(const std::vector<double>& values) { return MakeCurve(values, false); }
inline Curve Stopped(const std::vector<double>& values) {
  Curve curve = MakeCurve(values);
  curve.stopped_early = true;
  return curve;
}

}  // namespace vernier::testing
