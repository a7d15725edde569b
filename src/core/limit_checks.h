#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vernier/core/metadata.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// Whether what comes in keeps the bounds of include/vernier/core/limits.h. Everything here is linear in what it looks at, and
// returns InvalidArgument, a FieldError that names the field, its size and the bound. Nothing that was stored is checked.
namespace vernier {

// The text has at most `most` bytes.
absl::Status CheckLength(std::string_view path, std::string_view text, std::size_t most);
// `count` is at most `most`.
absl::Status CheckAtMost(std::string_view path, std::size_t count, std::size_t most);

// Those bounds of a definition that Validate and Space::Create do not know; but for its size as a whole, which depends on
// how it is written down.
absl::Status CheckLimits(const StudySpec& spec);

// Number and names of the metrics of one measurement.
absl::Status CheckMetricLimits(std::string_view path, const std::map<std::string, double>& metrics);
// Of all measurements of a call.
absl::Status CheckMeasurementLimits(std::string_view path,
                                    const std::vector<Measurement>& measurements);

// Bytes that metadata count for: keys, types, contents, and a little for each entry.
std::size_t SizeOf(const Metadata& metadata);
// Of what one call sets; the sum with what is there is not looked at.
absl::Status CheckMetadataLimits(const MetadataUpdate& update);

}  // namespace vernier
