#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/map.h"
#include "vernier/core/space.h"
#include "vernier/v1/trial.pb.h"

// Parameter values and points.
namespace vernier::wire {

using PointProto = google::protobuf::Map<std::string, v1::ParameterValue>;

void EncodeValue(const ParameterValue& value, v1::ParameterValue* out);
// InvalidArgument: a FieldError at `path`: no kind is set.
absl::StatusOr<ParameterValue> DecodeValue(std::string_view path, const v1::ParameterValue& value);

void EncodePoint(const Point& point, PointProto* out);
// InvalidArgument: a FieldError at "<path>.NAME".
absl::StatusOr<Point> DecodePoint(std::string_view path, const PointProto& point);

// The value as the domain holds it: an integer sent for a float is its double, a whole number sent for an integer is that
// integer. Anything else is left as it is, for the space to judge.
ParameterValue FitValue(const Domain& domain, ParameterValue value);
Point FitPoint(const Space& space, Point point);

// The text with every byte that is not valid UTF-8 replaced by U+FFFD: messages carry nothing else.
std::string ValidUtf8(std::string_view text);

}  // namespace vernier::wire
