#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// One metric of one trial, step by step.
struct Curve {
  std::int64_t trial = 0;
  std::vector<At> points;  // Steps and values, by step.
};

// At most `count` of the points, the first and the last among them: those that keep the curve's form best (Steinarsson,
// «largest triangle three buckets», 2013). Points that are not finite are left out.  REQUIRES: count >= 3.
std::vector<At> Thinned(const std::vector<At>& points, std::size_t count);

// All curves in one panel, that of `best` on top. Curves of many points are thinned. `metric` says which values are better;
// `best` may be null.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> CurvesFigure(const StudyData& study,
                                    const Objective& metric,
                                    const PlotTrial* best,
                                    const std::vector<Curve>& curves,
                                    AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
