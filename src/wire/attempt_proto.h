#pragma once

#include "absl/status/statusor.h"
#include "vernier/core/trial.h"
#include "vernier/v1/trial.pb.h"

// Attempts and their replicas. On the wire a replica is one message: where it runs and how it ended.
namespace vernier::wire {

void EncodeUsage(const ResourceUsage& used, v1::ResourceUsage* out);
ResourceUsage DecodeUsage(const v1::ResourceUsage& used);

void EncodeAttempt(const Attempt& attempt, v1::Attempt* out);
// InvalidArgument: a FieldError with path "attempts…".
absl::StatusOr<Attempt> DecodeAttempt(const v1::Attempt& attempt);

}  // namespace vernier::wire
