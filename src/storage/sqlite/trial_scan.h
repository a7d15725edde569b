#pragma once

#include <functional>

#include "absl/status/status.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/storage.h"

namespace vernier::sqlite {

// Storage::ScanTrials, inside a transaction of the caller.
absl::Status ScanTrials(Connection& connection,
                        StudyId study,
                        const TrialScan& scan,
                        const std::function<bool(Trial)>& visit);

}  // namespace vernier::sqlite
