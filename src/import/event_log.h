#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/import/source_study.h"

// Logs of studies of Vernier, to move a study from one store to another.
namespace vernier::imports {

// Whether a file that begins so is a log that `vernier study export` wrote.
bool IsEventLog(std::string_view head);

// The definition as it was last amended, and all trials that are not deleted.
absl::StatusOr<SourceStudy> ReadEventLog(const std::string& path);

}  // namespace vernier::imports
