#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/storage.h"

// The tables of snapshots. Each call belongs to a transaction of its caller.
namespace vernier::sqlite {

absl::Status UpdateSnapshot(Connection& connection,
                            StudyId study,
                            EventSeq as_of,
                            const SnapshotChange& change);
// Nothing: there is none.  NotFound: no such study.  DataLoss: parts are missing.
absl::StatusOr<std::optional<StudySnapshot>> SelectSnapshot(Connection& connection, StudyId study);

}  // namespace vernier::sqlite
