#include "python/src/store.h"

#include <stop_token>
#include <utility>

#include "python/src/own_classes.h"
#include "vernier/core/error.h"

namespace vernier::python {
namespace {

Caller By(const std::string& actor) { return {.actor = actor, .request_id = ""}; }

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path,
                                                   std::shared_ptr<const Kept> classes,
                                                   absl::Duration patience) {
  std::unique_ptr<Store> store(new Store());
  if (path.empty()) {
    store->storage_ = NewMemoryStorage();
  } else {
    VERNIER_ASSIGN_OR_RETURN(store->lock_, storage::StoreLock::Acquire(path, patience));
    VERNIER_ASSIGN_OR_RETURN(auto file, sqlite::Open({.path = path}, sqlite::Tuning()));
    store->file_ = file.get();
    store->storage_ = std::move(file);
  }
  store->clock_ = NewRealClock();
  store->studies_ =
      Studies::Create(*store->storage_, *store->clock_, CatalogueWith(std::move(classes)));
  return store;
}

void Store::Close(bool is_brief) {
  if (is_brief && file_ != nullptr) file_->KeepLogOnClose();
  studies_.reset();
  storage_.reset();
  lock_.reset();
}

void Store::Abandon() {
  // Leaked on purpose: closing them would write to the parent's files, or wait for threads that the child has not got.
  [[maybe_unused]] auto* const studies = studies_.release();
  [[maybe_unused]] auto* const storage = storage_.release();
  lock_.reset();
}

absl::StatusOr<StudyId> Store::CreateStudy(const StudySpec& spec, const Caller& caller) {
  VERNIER_ASSIGN_OR_RETURN(const Study study, studies_->CreateStudy(spec, caller));
  return study.id;
}

absl::Status Store::Amend(StudyId id, const Amendment& change, const std::string& actor) {
  return studies_->Amend(id, change, By(actor)).status();
}

absl::StatusOr<StudyId> Store::FindStudy(const std::string& name) {
  return studies_->FindStudyId(name);
}

absl::StatusOr<Study> Store::GetStudy(StudyId id) { return studies_->GetStudy(id); }

absl::StatusOr<std::shared_ptr<const StudySpec>> Store::GetDefinition(StudyId id) {
  return studies_->GetDefinition(id);
}

absl::StatusOr<std::vector<Study>> Store::ListStudies() { return studies_->ListStudies(); }

absl::StatusOr<ReplayReport> Store::Replay(StudyId id) {
  const ReplayScope scope;
  return studies_->Replay(id);
}

absl::Status Store::Pause(StudyId id, const std::string& actor) {
  return studies_->Pause(id, By(actor)).status();
}

absl::Status Store::Resume(StudyId id, const std::string& actor) {
  return studies_->Resume(id, By(actor)).status();
}

absl::Status Store::Stop(StudyId id, const std::string& reason, const std::string& actor) {
  return studies_->Stop(id, reason, By(actor)).status();
}

absl::Status Store::Finish(StudyId id, const std::string& reason, const std::string& actor) {
  return studies_->Finish(id, reason, By(actor)).status();
}

absl::Status Store::Delete(const std::string& name, bool force, const std::string& actor) {
  return studies_->Delete(name, force, By(actor));
}

absl::StatusOr<std::vector<Trial>> Store::ListTrials(StudyId id) {
  return studies_->ListTrials(id);
}

absl::StatusOr<std::vector<Trial>> Store::ListLeased(StudyId id) {
  std::vector<Trial> leased;
  TrialScan scan;
  scan.states = {TrialState::kRunning, TrialState::kStopping};
  VERNIER_RETURN_IF_ERROR(studies_->ScanTrials(id, scan, [&](Trial trial) {
    if (trial.lease.has_value()) leased.push_back(std::move(trial));
    return true;
  }));
  return leased;
}

absl::StatusOr<Trial> Store::GetTrial(TrialId id) { return studies_->GetTrial(id); }

absl::StatusOr<std::vector<Measurement>> Store::ListMeasurements(TrialId id) {
  return studies_->ListMeasurements(id);
}

absl::StatusOr<std::vector<PredictedPoint>> Store::Predict(StudyId id, std::vector<Point> points) {
  return studies_->Predict(id, std::move(points), std::stop_token());
}

absl::StatusOr<Trial> Store::AddTrial(StudyId id,
                                      const TrialAddition& addition,
                                      const Caller& caller) {
  return studies_->AddTrial(id, addition, caller);
}

absl::Status Store::AddTrials(StudyId id,
                              const std::vector<TrialAddition>& additions,
                              const std::string& actor) {
  return studies_->AddTrials(id, additions, By(actor)).status();
}

absl::StatusOr<Trial> Store::StopTrial(TrialId id,
                                       const std::string& reason,
                                       const std::string& actor) {
  return studies_->StopTrial(id, reason, By(actor));
}

absl::StatusOr<std::vector<Trial>> Store::Suggest(StudyId id,
                                                  std::size_t count,
                                                  const std::string& holder) {
  return studies_->Suggest(id, count, holder, By(holder), std::stop_token());
}

absl::StatusOr<ReportedTrial> Store::Report(TrialId id,
                                            const Measurement& measurement,
                                            const LeaseToken& lease) {
  return studies_->Report(id, {measurement}, lease, By(lease.holder));
}

absl::Status Store::Heartbeat(TrialId id, const LeaseToken& lease) {
  return studies_->Heartbeat(id, lease).status();
}

absl::Status Store::EndLease(TrialId id, const LeaseToken& lease, const std::string& actor) {
  return studies_->EndLease(id, lease, By(actor)).status();
}

absl::StatusOr<Trial> Store::End(TrialId id, const TrialEnd& end, const LeaseToken& lease) {
  return studies_->End(id, end, lease, By(lease.holder));
}

}  // namespace vernier::python
