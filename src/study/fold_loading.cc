#include "src/study/fold_loading.h"

#include <optional>
#include <utility>
#include <vector>

#include "src/core/status.h"

namespace vernier::study {
namespace {

// Row and log are read one after the other, so that the log may be longer than the row says, but
// never shorter.
absl::Status CheckLogLength(const StudyFold& fold, const Study& row) {
  const std::int64_t last = fold.header().last_event.value();
  if (last >= row.last_event.value()) return absl::OkStatus();
  return DataLoss("its log ends at event {}, {} were stored", last, row.last_event.value());
}

// Applies the events that follow those the fold has.
absl::Status Continue(const Storage& storage, StudyFold& fold) {
  while (true) {
    const Study& study = fold.header();
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> events,
                             storage.ReadEvents(study.id, study.last_event, kEventPage));
    for (const Event& event : events) VERNIER_RETURN_IF_ERROR(fold.Apply(event));
    if (events.size() < kEventPage) return absl::OkStatus();
  }
}

absl::StatusOr<Event> FirstEvent(const Storage& storage, StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<Event> events, storage.ReadEvents(id, EventSeq(), 1));
  if (events.empty()) return DataLoss("it has no events");
  return std::move(events.front());
}

}  // namespace

absl::StatusOr<StudyFold> FoldLog(const Storage& storage, StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const Study row, storage.GetStudy(id));
  VERNIER_ASSIGN_OR_RETURN(const Event created, FirstEvent(storage, id));
  VERNIER_ASSIGN_OR_RETURN(StudyFold fold, StudyFold::Start(id, created));
  VERNIER_RETURN_IF_ERROR(Continue(storage, fold));
  VERNIER_RETURN_IF_ERROR(CheckLogLength(fold, row));
  return fold;
}

absl::StatusOr<std::optional<StudyFold>> FoldSnapshot(const Storage& storage, StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<StudySnapshot> snapshot, storage.ReadSnapshot(id));
  if (!snapshot.has_value()) return std::optional<StudyFold>();
  VERNIER_ASSIGN_OR_RETURN(const Event created, FirstEvent(storage, id));
  const auto read_reports = [&](TrialNumber trial) { return storage.ReadReports({id, trial}); };
  VERNIER_ASSIGN_OR_RETURN(StudyFold fold,
                           StudyFold::Restore(id, created, *snapshot, read_reports));
  // An event after the snapshot may need the whole log, such as the deletion of a trial. That is no
  // error: the caller then folds the log.
  const absl::Status continued = Continue(storage, fold);
  if (!continued.ok() && fold.missing().log) return std::optional<StudyFold>();
  VERNIER_RETURN_IF_ERROR(continued);
  return std::optional<StudyFold>(std::move(fold));
}

// The log has all that a snapshot has, so that any fault of a snapshot costs time only. `server
// check` reports it (store_check.cc).
absl::StatusOr<StudyFold> LoadFold(const Storage& storage, StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const Study row, storage.GetStudy(id));
  absl::StatusOr<std::optional<StudyFold>> snapshot = FoldSnapshot(storage, id);
  if (snapshot.ok() && snapshot->has_value() && CheckLogLength(**snapshot, row).ok()) {
    return **std::move(snapshot);
  }
  return FoldLog(storage, id);
}

}  // namespace vernier::study
