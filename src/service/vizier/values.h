#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "vernier/core/metadata.h"
#include "vernier/core/space.h"
#include "vizier/study.pb.h"

// Parameter values and metadata as Vizier's clients write them: numbers and text.
namespace vernier::vizier {

// A metric without a name, as a client may have it where there is just one, is called so in Vernier.
inline constexpr char kUnnamedMetric[] = "(unnamed)";
inline std::string MetricOfId(const std::string& id) { return id.empty() ? kUnnamedMetric : id; }
inline std::string IdOfMetric(const std::string& name) {
  return name == kUnnamedMetric ? std::string() : name;
}

// A boolean is "True" or "False", another choice its text.
void EncodeValue(const ParameterValue& value, google::protobuf::Value* out);
// The value of the domain that is written so.  InvalidArgument: a FieldError at `field`; whether the domain holds it is not
// looked at.
absl::StatusOr<ParameterValue> DecodeValue(std::string_view field,
                                           const Domain& domain,
                                           const google::protobuf::Value& value);

void EncodeMetadata(const Metadata& metadata,
                    google::protobuf::RepeatedPtrField<::vizier::KeyValue>* out);
// Adds it; a later one of the same namespace and key takes the place of the earlier.
void DecodeMetadatum(const ::vizier::KeyValue& entry, Metadata& metadata);

}  // namespace vernier::vizier
