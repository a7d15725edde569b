#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/engine.h"
#include "vernier/launcher.h"

// What trials report, turned from bytes into measurements. Knows no rule of studies.
namespace vernier::metrics {

// Reads the primary of the gang, an attempt of the trial: its hypertune file always, and its output for the metrics that
// have a regular expression.  InvalidArgument: as ValidateMetricSources.
absl::StatusOr<std::unique_ptr<MetricReader>> NewMetricReader(const StudySpec& spec,
                                                              const Trial& trial,
                                                              const GangProgram& gang);

// InvalidArgument: a FieldError "metrics.NAME.regex" for an expression that does not compile or has no group.
absl::Status ValidateMetricSources(const StudySpec& spec);

}  // namespace vernier::metrics
