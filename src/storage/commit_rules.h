#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/storage.h"

// What every implementation of Storage checks, in the same words.
namespace vernier::storage {

// InvalidArgument: no events, a gap in their numbers, a header of another study or not of the last event, a snapshot with an
// empty head.
absl::Status CheckCommit(const Commit& commit);
// Aborted: the stored last event is not what the commit was made for.
absl::Status CheckExpected(const Commit& commit, EventSeq stored);
// Aborted: for a commit in line behind one that failed.
absl::Status EarlierCommitFailed(StudyId study);

// The study that its first event creates.  InvalidArgument: the event is no StudyCreated.
absl::StatusOr<Study> NewStudy(const Event& created);

absl::Status StudyNotFound(StudyId id);
absl::Status StudyNotFound(std::string_view name);
absl::Status TrialNotFound(TrialId id);
absl::Status MeasurementNotFound(StudyId study, EventSeq event);
absl::Status StudyExists(std::string_view name);

}  // namespace vernier::storage
