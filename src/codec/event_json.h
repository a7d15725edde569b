#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "vernier/core/event.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// The stored and shown form of events, trials and studies. docs/formats/events.md describes it. Numbers read back to the
// same bits; NaN and infinities are the strings "nan", "inf", "-inf" (as a value {"number": "nan"}); times are RFC 3339 in UTC.
namespace vernier::codec {

nlohmann::ordered_json ValueToJson(const ParameterValue& value);
absl::StatusOr<ParameterValue> ValueFromJson(const nlohmann::ordered_json& value);
nlohmann::ordered_json PointToJson(const Point& point);
absl::StatusOr<Point> PointFromJson(const nlohmann::ordered_json& point);
nlohmann::ordered_json NumberToJson(double number);
absl::StatusOr<double> NumberFromJson(const nlohmann::ordered_json& number);

nlohmann::ordered_json PayloadToJson(const EventPayload& payload);
// DataLoss: not a payload of that kind.  Unknown keys are ignored, missing ones take their defaults, so that an older
// program reads what a newer one added.
absl::StatusOr<EventPayload> PayloadFromJson(std::string_view kind,
                                             const nlohmann::ordered_json& payload);

// Whether there are events of that kind: "trial_created".
bool IsEventKind(std::string_view kind);

// Whole rows, for storage's projection.
nlohmann::ordered_json TrialToJson(const Trial& trial);
absl::StatusOr<Trial> TrialFromJson(const nlohmann::ordered_json& trial);
nlohmann::ordered_json StudyToJson(const Study& study);
absl::StatusOr<Study> StudyFromJson(const nlohmann::ordered_json& study);

}  // namespace vernier::codec
