#include "src/storage/sqlite/writes.h"

#include <utility>
#include <variant>

#include "src/storage/commit_rules.h"
#include "src/storage/sqlite/snapshot_rows.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {

CreateWrite::CreateWrite(Study study, const Event& created)
    : study_(std::move(study)), spec_(SpecText(study_.spec)), event_(created) {
  event_.seq = study_.last_event.value();
}

absl::Status CreateWrite::Apply(Connection& connection, bool /*earlier_failed*/) {
  VERNIER_ASSIGN_OR_RETURN(study_.id, InsertStudy(connection, study_, spec_));
  return InsertEvent(connection, study_.id, event_);
}

CommitWrite::CommitWrite(Commit commit) : commit_(std::move(commit)) {}

bool CommitWrite::is_large() const {
  constexpr std::size_t kOrdinary = 64;
  std::size_t parts = commit_.events.size();
  for (const Event& event : commit_.events) {
    const auto* const report = std::get_if<MeasurementReported>(&event.payload);
    if (report != nullptr) parts += report->measurement.metrics.size();
    // These encode all metadata of the study, or its whole definition, however short the event is.
    if (std::holds_alternative<MetadataChanged>(event.payload)) return true;
    if (std::holds_alternative<StudyAmended>(event.payload)) return true;
  }
  for (const Trial& trial : commit_.trials) {
    parts += trial.point.size() + trial.metadata.size();
    if (trial.last.has_value()) parts += trial.last->metrics.size();
  }
  return parts > kOrdinary;
}

void CommitWrite::Prepare() {
  // The waiting caller and the leader may both be here at once.
  std::call_once(prepared_, [this] {
    legal_ = storage::CheckCommit(commit_);
    if (!legal_.ok()) return;
    for (const Event& event : commit_.events) {
      events_.emplace_back(event);
      const auto* const change = std::get_if<MetadataChanged>(&event.payload);
      const bool is_noted = change != nullptr && !change->values.study.empty();
      if (is_noted) metadata_ = MetadataText(commit_.header.metadata);
      if (std::holds_alternative<StudyAmended>(event.payload)) {
        spec_ = SpecText(commit_.header.spec);
      }
    }
    for (const Trial& trial : commit_.trials) trials_.emplace_back(trial);
  });
}

absl::Status CommitWrite::Apply(Connection& connection, bool earlier_failed) {
  // Nobody may wait for this commit, or its waiter may not have come to it yet.
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
  if (metadata_.has_value()) {
    VERNIER_RETURN_IF_ERROR(UpdateMetadata(connection, commit_.study, *metadata_));
  }
  // By the version and not by the event: an amendment that changes nothing leaves the version as it is.
  if (commit_.header.spec_version != stored.spec_version) {
    if (!spec_.has_value()) spec_ = SpecText(commit_.header.spec);
    VERNIER_RETURN_IF_ERROR(UpdateSpec(connection, commit_.study, *spec_));
  }
  if (commit_.snapshot.has_value()) {
    VERNIER_RETURN_IF_ERROR(
        UpdateSnapshot(connection, commit_.study, commit_.header.last_event, *commit_.snapshot));
  }
  return UpdateStudy(connection, commit_.header);
}

absl::Status DeleteWrite::Apply(Connection& connection, bool /*earlier_failed*/) {
  // Ahead of the deletion, since the name is read from the row of the study.
  if (!request_id_.empty()) VERNIER_RETURN_IF_ERROR(InsertDeletion(connection, request_id_, id_));
  return DeleteStudy(connection, id_);
}

absl::Status RemoveWrite::Apply(Connection& connection, bool /*earlier_failed*/) {
  VERNIER_ASSIGN_OR_RETURN(is_more_, RemoveLeftovers(connection, id_, damaged_));
  return absl::OkStatus();
}

}  // namespace vernier::sqlite
