#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/scale.h"
#include "vernier/core/study.h"

namespace vernier::plot {

// Range of an objective's values that an axis shows.
enum class AxisMode {
  kAuto,    // Without far outliers on the bad side; logarithmic if values span decades.
  kFull,    // Every value.
  kLog,     // Every value, logarithmic.
  kRegret,  // The distance to the best value, logarithmic.
};
// "auto", "full", "log", "regret".
std::optional<AxisMode> ParseAxisMode(std::string_view name);

// An axis for values of one objective.
class ValueAxis {
 public:
  // For the finite ones of `values`.
  // InvalidArgument: a logarithmic axis was asked for, and a value is not above 0.
  static absl::StatusOr<ValueAxis> Create(const std::vector<double>& values,
                                          const Objective& objective,
                                          AxisMode mode);

  const AxisScale& scale() const { return scale_; }
  // The axis label: "loss", "distance to the best loss".
  const std::string& label() const { return label_; }
  // The value to draw: itself, or its distance to the best. Values beyond an end are moved to that end.
  double Place(double value) const;
  // Whether the value lies beyond the bad end of the axis.
  bool IsOutlier(double value) const;
  // The end with bad values.
  double bad_end() const;
  // Level between 0, the worst shown, and 1, the best.
  double LevelOf(double value) const;
  // An axis for levels: share 0 is the worst.
  AxisScale LevelScale() const;

 private:
  ValueAxis() = default;

  AxisScale scale_ = AxisScale::Linear(0, 1);
  std::string label_;
  bool bad_is_high_ = false;
  bool is_regret_ = false;
  double best_ = 0;
};

}  // namespace vernier::plot
