#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// A metric of one trial, by step.
struct Curve {
  std::int64_t trial = 0;
  std::vector<At> points;  // Step and value.
};

// A subsample of at most `count` points with the first and the last, that preserves the curve's shape (Steinarsson,
// «largest triangle three buckets», 2013). Points that are not finite are left out.  REQUIRES: count >= 3.
std::vector<At> Thinned(const std::vector<At>& points, std::size_t count);

// All curves in one panel, that of `best` on top; long ones are subsampled. `metric` defines which values are better;
// `best` may be null.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> CurvesFigure(const StudyData& study,
                                    const Objective& metric,
                                    const PlotTrial* best,
                                    const std::vector<Curve>& curves,
                                    AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
