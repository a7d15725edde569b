#include "src/storage/commit_rules.h"

#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::storage {

absl::Status CheckCommit(const Commit& commit) {
  if (commit.events.empty()) return InvalidArgument("commit: needs at least one event, got 0");
  std::int64_t last = commit.expected.value();
  for (const Event& event : commit.events) {
    // Readers find an event by its number, so the numbers must have no gap.
    if (event.seq.value() != ++last) {
      return InvalidArgument("commit: event must be {}, got {}", last, event.seq.value());
    }
  }
  if (commit.header.id != commit.study) {
    return InvalidArgument("commit: header must be of study {}, got {}",
                           commit.study.value(),
                           commit.header.id.value());
  }
  // An empty head marks a study without a snapshot in the memory storage.
  if (commit.snapshot.has_value() && commit.snapshot->head == "") {
    return InvalidArgument("commit: the head of a snapshot must not be empty");
  }
  // The next commit of the study is checked against this number.
  if (commit.header.last_event.value() != last) {
    return InvalidArgument(
        "commit: header's last event must be {}, got {}", last, commit.header.last_event.value());
  }
  return absl::OkStatus();
}

// This check is what lets a caller compute without a lock: whoever commits second must read again.
absl::Status CheckExpected(const Commit& commit, EventSeq stored) {
  if (commit.expected == stored) return absl::OkStatus();
  return Aborted("study {}: the last event is {}, the commit was made for {}",
                 commit.study.value(),
                 stored.value(),
                 commit.expected.value());
}

// The commit was made for a state of the study that never came to be.
absl::Status EarlierCommitFailed(StudyId study) {
  return Aborted("study {}: a commit in line before this one failed", study.value());
}

absl::StatusOr<Study> NewStudy(const Event& created) {
  const auto* const payload = std::get_if<StudyCreated>(&created.payload);
  if (payload == nullptr) {
    return InvalidArgument("a study's first event must be study_created, got {}",
                           EventKind(created.payload));
  }
  // The other fields keep their defaults, and the storage assigns the id.
  Study study;
  study.spec = payload->spec;
  study.created = created.time;
  study.updated = created.time;
  study.last_event = EventSeq(1);
  return study;
}

absl::Status StudyNotFound(StudyId id) {
  return WithReason(NotFound("no study has the id {}", id.value()), Reason::kStudyNotFound);
}

absl::Status StudyNotFound(std::string_view name) {
  return WithReason(NotFound("no study is named '{}'", name), Reason::kStudyNotFound);
}

absl::Status TrialNotFound(TrialId id) {
  return WithReason(NotFound("study {} has no trial {}", id.study.value(), id.number.value()),
                    Reason::kTrialNotFound);
}

absl::Status MeasurementNotFound(StudyId study, EventSeq event) {
  return NotFound("event {} of study {} is no measurement", event.value(), study.value());
}

absl::Status StudyExists(std::string_view name) {
  return WithReason(AlreadyExists("a study named '{}' exists", name), Reason::kStudyExists);
}

}  // namespace vernier::storage
