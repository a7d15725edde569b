#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "src/study/study_state.h"
#include "vernier/storage.h"

// Reads folds of studies from a storage.
namespace vernier::study {

// Number of events that are read at a time. A choice.
inline constexpr std::size_t kEventPage = 1000;

// From the log alone.  NotFound: no such study.  DataLoss: damaged, or shorter than the study's row says.
absl::StatusOr<StudyFold> FoldLog(const Storage& storage, StudyId id);

// From the snapshot and the events after it. Nothing: there is no snapshot, or what followed takes the whole log.
// DataLoss: the snapshot cannot be used.
absl::StatusOr<std::optional<StudyFold>> FoldSnapshot(const Storage& storage, StudyId id);

// From the snapshot if it can be used, else from the log, which has all that a snapshot has.
// Errors: as FoldLog.
absl::StatusOr<StudyFold> LoadFold(const Storage& storage, StudyId id);

}  // namespace vernier::study
