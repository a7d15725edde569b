#include "src/storage/sqlite/writes.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "src/storage/commit_rules.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {

CreateWrite::CreateWrite(Study study, const Event& created)
    : study_(std::move(study)), event_(created) {
  event_.seq = study_.last_event.value();
}

absl::Status CreateWrite::Apply(Connection& connection, bool /*earlier_failed*/) {
  VERNIER_ASSIGN_OR_RETURN(study_.id, InsertStudy(connection, study_));
  return InsertEvent(connection, study_.id, event_);
}

CommitWrite::CommitWrite(Commit commit) : commit_(std::move(commit)) {}

void CommitWrite::Prepare() {
  std::call_once(prepared_, [this] {
    legal_ = storage::CheckCommit(commit_);
    if (!legal_.ok()) return;
    for (const Event& event : commit_.events) events_.emplace_back(event);
    for (const Trial& trial : commit_.trials) trials_.emplace_back(trial);
  });
}

absl::Status CommitWrite::Apply(Connection& connection, bool earlier_failed) {
  Prepare();
  VERNIER_RETURN_IF_ERROR(legal_);
  VERNIER_ASSIGN_OR_RETURN(const StudyVersion stored,
                           SelectStudyVersion(connection, commit_.study));
  if (earlier_failed) return storage::EarlierCommitFailed(commit_.study);
  VERNIER_RETURN_IF_ERROR(storage::CheckExpected(commit_, stored.last_event));
  for (const EventRow& event : events_) {
    VERNIER_RETURN_IF_ERROR(InsertEvent(connection, commit_.study, event));
  }
  for (const TrialRow& trial : trials_) {
    VERNIER_RETURN_IF_ERROR(UpsertTrial(connection, commit_.study, trial));
  }
  const bool noted = std::ranges::any_of(commit_.events, [](const Event& event) {
    const auto* const change = std::get_if<MetadataChanged>(&event.payload);
    return change != nullptr && !change->values.study.empty();
  });
  if (noted) VERNIER_RETURN_IF_ERROR(UpdateMetadata(connection, commit_.header));
  const bool amended = commit_.header.spec_version != stored.spec_version;
  return UpdateStudy(connection, commit_.header, amended);
}

absl::Status DeleteWrite::Apply(Connection& connection, bool /*earlier_failed*/) {
  if (!request_id_.empty()) VERNIER_RETURN_IF_ERROR(InsertDeletion(connection, request_id_, id_));
  return DeleteStudy(connection, id_);
}

}  // namespace vernier::sqlite
