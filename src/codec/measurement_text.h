#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "vernier/core/event.h"

// The stored texts of which a study has a million, read without a document in between. Each returns nothing for a text that
// is not written exactly as the store writes it: codec/event_json.h reads it then, or says what is wrong with it.
namespace vernier::codec {

// The payload of a measurement_reported event.
std::optional<MeasurementReported> ReadMeasurementText(std::string_view text);

// "2026-11-21T04:12:13.123456789Z".
std::optional<absl::Time> ReadTimeText(std::string_view text);

}  // namespace vernier::codec
