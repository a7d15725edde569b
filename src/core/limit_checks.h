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

// Checks of input against the bounds of include/vernier/core/limits.h. All are linear in the size of their argument.
// Errors are InvalidArgument: a FieldError that names the field, its size and the bound. Stored data is never checked.
namespace vernier {

// Checks that the text has at most `most` bytes.
absl::Status CheckLength(std::string_view path, std::string_view text, std::size_t most);
// Checks that `count` is at most `most`.
absl::Status CheckAtMost(std::string_view path, std::size_t count, std::size_t most);

// Checks the bounds of a definition that Validate and Space::Create do not check. Its total size is checked elsewhere,
// since it depends on the format.
absl::Status CheckLimits(const StudySpec& spec);

// Checks number and names of the metrics of one measurement.
absl::Status CheckMetricLimits(std::string_view path, const std::map<std::string, double>& metrics);
// Checks all measurements of a call.
absl::Status CheckMeasurementLimits(std::string_view path,
                                    const std::vector<Measurement>& measurements);

// Returns the size of metadata in bytes: keys, types, contents, and a constant for each entry.
std::size_t SizeOf(const Metadata& metadata);
// Checks the metadata that one call sets. Does not consider stored metadata.
absl::Status CheckMetadataLimits(const MetadataUpdate& update);

}  // namespace vernier
