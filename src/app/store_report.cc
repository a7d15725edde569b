#include "src/app/store_report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/app/server.h"
#include "src/storage/sqlite/inspection.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

using sqlite::Inspection;

absl::StatusOr<StoreReport> Measured(Inspection& store) {
  StoreReport report;
  VERNIER_ASSIGN_OR_RETURN(const Inspection::Extent extent, store.Measure());
  report.bytes = extent.bytes();
  report.free_bytes = extent.free_bytes();
  return report;
}

// Each study is checked in its own snapshot: SQLite cannot fold the write-ahead log past the oldest snapshot in use, so
// a long one would let the log grow (sqlite.org/wal.html, "Avoiding Excessively Large WAL Files").
absl::Status CheckStudies(Inspection& store, StoreReport& report) {
  std::vector<StudyKey> keys;
  {
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> snapshot, store.Snapshot());
    absl::StatusOr<std::vector<StudyKey>> listed = snapshot->ListStudyKeys();
    // Reported by the check of pages.
    if (absl::IsDataLoss(listed.status())) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(listed.status());
    keys = *std::move(listed);
  }
  for (const StudyKey& key : keys) {
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> snapshot, store.Snapshot());
    if (absl::IsNotFound(snapshot->GetStudy(key.id).status())) continue;  // Deleted meanwhile.
    report.studies.push_back(study::CheckStudy(*snapshot, key));
  }
  return absl::OkStatus();
}

}  // namespace

bool StoreReport::is_sound() const {
  return problems.empty() &&
         std::ranges::all_of(studies, [](const auto& study) { return study.problems.empty(); });
}

absl::StatusOr<StoreReport> ExamineStore(const std::string& store) {
  // A store in use under another name has its log beside that name, and would be read without it.
  VERNIER_RETURN_IF_ERROR(CheckStoreName(store));
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> file, Inspection::Open(store));
  // The size first: checking takes long, and the store grows meanwhile.
  VERNIER_ASSIGN_OR_RETURN(StoreReport report, Measured(*file));
  VERNIER_ASSIGN_OR_RETURN(report.problems, file->CheckPages(Inspection::Depth::kFull, nullptr));
  VERNIER_RETURN_IF_ERROR(CheckStudies(*file, report));
  return report;
}

absl::StatusOr<StoreReport> LookIntoStore(const std::string& store,
                                          const std::function<bool()>& go_on) {
  VERNIER_RETURN_IF_ERROR(CheckStoreName(store));
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> file, Inspection::Open(store));
  VERNIER_ASSIGN_OR_RETURN(StoreReport report, Measured(*file));
  VERNIER_ASSIGN_OR_RETURN(report.problems, file->CheckPages(Inspection::Depth::kQuick, go_on));
  return report;
}

}  // namespace vernier::app
