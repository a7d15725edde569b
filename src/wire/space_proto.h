#pragma once

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "vernier/core/space.h"
#include "vernier/v1/study.pb.h"

// Search spaces.
namespace vernier::wire {

void EncodeSpace(const Space& space, v1::StudySpec* out);
// The space of the definition's parameters and constraints.
// InvalidArgument: a FieldError, paths as in the study file ("parameters.lr.float[0]").
absl::StatusOr<Space> DecodeSpace(const v1::StudySpec& spec);

}  // namespace vernier::wire
