#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "python/src/backend.h"
#include "python/src/kept.h"
#include "src/storage/owner/store_lock.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "vernier/core/clock.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::python {

// An open store and its studies. Destroying it closes the store.
class Store final : public Backend {
 public:
  // Opens the SQLite file at `path`, and creates it if it is missing; its folder must exist. Empty: a store in memory.
  // `classes`: as for CatalogueWith. `patience`: as for StoreLock::Acquire.
  // Unavailable (kStoreBusy): another process has it open.  Other errors: as StoreLock::Acquire and OpenSqliteStorage.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path,
                                                     std::shared_ptr<const Kept> classes,
                                                     absl::Duration patience);

  // For calls that only a store in this process has.
  Studies& studies() { return *studies_; }

  // Whether another process waits for the file.
  bool IsAwaited() const { return lock_ != nullptr && lock_->IsAwaited(); }

  // Ends leases that are due.
  absl::Status Tick() { return studies_->Tick().status(); }

  // Closes the store. Nothing may be called afterwards. `is_brief`: another process will open it soon; what is left undone
  // for it makes both quicker.
  void Close(bool is_brief);

  // In the child of a fork: gives the locks up without closing the store, which is the parent's. Nothing may be called
  // afterwards. The parent keeps its locks.
  void Abandon();

  absl::StatusOr<StudyId> CreateStudy(const StudySpec& spec, const Caller& caller) override;
  absl::Status Amend(StudyId id, const Amendment& change, const std::string& actor) override;
  absl::StatusOr<StudyId> FindStudy(const std::string& name) override;
  absl::StatusOr<Study> GetStudy(StudyId id) override;
  absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(StudyId id) override;
  absl::StatusOr<std::vector<Study>> ListStudies() override;
  absl::StatusOr<ReplayReport> Replay(StudyId id) override;
  absl::Status Pause(StudyId id, const std::string& actor) override;
  absl::Status Resume(StudyId id, const std::string& actor) override;
  absl::Status Stop(StudyId id, const std::string& reason, const std::string& actor) override;
  absl::Status Finish(StudyId id, const std::string& reason, const std::string& actor) override;
  absl::Status Delete(const std::string& name, bool force, const std::string& actor) override;
  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId id) override;
  absl::StatusOr<std::vector<Trial>> ListLeased(StudyId id) override;
  absl::StatusOr<Trial> GetTrial(TrialId id) override;
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) override;
  absl::StatusOr<std::vector<PredictedPoint>> Predict(StudyId id,
                                                      std::vector<Point> points) override;
  absl::StatusOr<Trial> AddTrial(StudyId id,
                                 const TrialAddition& addition,
                                 const Caller& caller) override;
  // Trials::AddTrials.
  absl::Status AddTrials(StudyId id,
                         const std::vector<TrialAddition>& additions,
                         const std::string& actor);
  absl::StatusOr<Trial> StopTrial(TrialId id,
                                  const std::string& reason,
                                  const std::string& actor) override;
  absl::StatusOr<std::vector<Trial>> Suggest(StudyId id,
                                             std::size_t count,
                                             const std::string& holder) override;
  absl::StatusOr<ReportedTrial> Report(TrialId id,
                                       const Measurement& measurement,
                                       const LeaseToken& lease) override;
  absl::Status Heartbeat(TrialId id, const LeaseToken& lease) override;
  absl::Status EndLease(TrialId id, const LeaseToken& lease, const std::string& actor) override;
  absl::StatusOr<Trial> End(TrialId id, const TrialEnd& end, const LeaseToken& lease) override;

 private:
  Store() = default;

  // Released last, since it is what keeps other processes away from the file.
  std::unique_ptr<storage::StoreLock> lock_;  // Null: in memory.
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Storage> storage_;
  sqlite::SqliteStorage* file_ = nullptr;  // storage_; null: in memory.
  std::unique_ptr<Studies> studies_;
};

}  // namespace vernier::python
