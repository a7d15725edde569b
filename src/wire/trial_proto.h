#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/map.h"
#include "src/core/outcome_constraint.h"
#include "vernier/core/trial.h"
#include "vernier/v1/trial.pb.h"

// Trials and measurements. What comes from outside programs (messages, log lines) is made valid UTF-8.
namespace vernier::wire {

using MetricsProto = google::protobuf::Map<std::string, double>;

void EncodeMetrics(const std::map<std::string, double>& metrics, MetricsProto* out);
void EncodePredicted(const std::map<std::string, PredictedValue>& predicted,
                     google::protobuf::Map<std::string, v1::PredictedValue>* out);
std::map<std::string, double> DecodeMetrics(const MetricsProto& metrics);

void EncodeMeasurement(const Measurement& measurement, v1::Measurement* out);
// Absent times are zero, for the study to fill in.
Measurement DecodeMeasurement(const v1::Measurement& measurement);

// `study` is the study's name. What the trial's outcome constraints are is not known here: EncodeSlacks.
void EncodeTrial(std::string_view study, const Trial& trial, v1::Trial* out);
// How far the trial keeps each constraint, if it completed.
void EncodeSlacks(std::span<const OutcomeConstraint> constraints,
                  const Trial& trial,
                  v1::Trial* out);
// DecodeTrial(EncodeTrial(trial)) == trial.  InvalidArgument: a FieldError.
absl::StatusOr<Trial> DecodeTrial(const v1::Trial& trial);

}  // namespace vernier::wire
