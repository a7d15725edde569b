#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "vernier/launcher.h"
#include "vernier/v1/cluster_service.pb.h"

// Machines, and what waits for them.
namespace vernier::wire {

void EncodeNode(const Node& node, v1::Node* out);
// InvalidArgument: a FieldError with path "name".
absl::StatusOr<Node> DecodeNode(const v1::Node& node);

// `position`: from 1.
void EncodeQueuedGang(const QueuedGang& gang, std::int64_t position, v1::QueuedTrial* out);
// The study's id is 0: on the wire studies have names.  InvalidArgument: a FieldError with path "trial".
absl::StatusOr<QueuedGang> DecodeQueuedGang(const v1::QueuedTrial& trial);

}  // namespace vernier::wire
