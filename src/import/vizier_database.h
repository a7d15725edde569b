#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/import/source_study.h"

namespace vernier::imports {

// The datastore of a server of open-source Vizier, an SQLite file.
absl::StatusOr<SourceStudy> ReadVizierDatabase(const std::string& path,
                                               const ImportOptions& options);

}  // namespace vernier::imports
