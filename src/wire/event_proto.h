#pragma once

#include "absl/status/statusor.h"
#include "vernier/core/event.h"
#include "vernier/v1/study_service.pb.h"

// Events of a study's log. The payload travels as the JSON that docs/formats/events.md describes.
namespace vernier::wire {

void EncodeEvent(const Event& event, v1::StudyEvent* out);
// DataLoss: the payload is not of its kind.
absl::StatusOr<Event> DecodeEvent(const v1::StudyEvent& event);

}  // namespace vernier::wire
