#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "src/study/amendment.h"
#include "src/study/live_study.h"
#include "src/study/rules.h"
#include "src/study/warm_start.h"
#include "vernier/studies.h"

namespace vernier::study {

// Studies over live studies. Split by concern: studies.cc, trials.cc, suggestions.cc, leases.cc, reporting.cc,
// engine_moves.cc; replay.cc stands alone.
//
// Lock order: a LiveStudy's lock and mu_ are never held together.
class StudiesImpl final : public Studies {
 public:
  StudiesImpl(Storage& storage, const Clock& clock, AlgorithmSource algorithms = {})
      : storage_(storage), clock_(clock), algorithms_(std::move(algorithms)) {}

  // studies.cc
  absl::StatusOr<Study> CreateStudy(const StudySpec& spec, const Caller& caller) override;
  absl::StatusOr<Study> PreviewStudy(const StudySpec& spec) const override;
  absl::StatusOr<Study> GetStudy(StudyId id) const override;
  absl::StatusOr<Study> FindStudy(std::string_view name) const override;
  absl::StatusOr<StudyId> FindStudyId(std::string_view name) const override;
  absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(StudyId id) const override;
  absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(
      StudyId id, EventSeq defined_by) const override;
  absl::StatusOr<std::vector<Study>> ListStudies() const override;
  absl::StatusOr<Study> Pause(StudyId id, const Caller& caller) override;
  absl::StatusOr<Study> Resume(StudyId id, const Caller& caller) override;
  absl::StatusOr<Study> Stop(StudyId id, std::string_view reason, const Caller& caller) override;
  absl::StatusOr<Study> Finish(StudyId id, std::string_view reason, const Caller& caller) override;
  absl::StatusOr<Study> Amend(StudyId id, const Amendment& change, const Caller& caller) override;
  absl::StatusOr<Study> PreviewAmendment(StudyId id, const Amendment& change) const override;
  absl::Status SetMetadata(StudyId id, const MetadataUpdate& values, const Caller& caller) override;
  absl::Status Delete(std::string_view name, bool force, const Caller& caller) override;

  // trials.cc
  absl::StatusOr<Trial> GetTrial(TrialId id) const override;
  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId id) const override;
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) const override;
  absl::StatusOr<CurvePart> ReadCurve(TrialId id, const CurveQuery& query) const override;
  absl::StatusOr<Trial> AddTrial(StudyId id,
                                 const TrialAddition& addition,
                                 const Caller& caller) override;
  void AddTrial(StudyId id, TrialAddition addition, const Caller& caller, OnTrial added) override;
  absl::Status DeleteTrial(TrialId id, const Caller& caller) override;
  absl::StatusOr<Trial> StopTrial(TrialId id,
                                  std::string_view reason,
                                  const Caller& caller) override;

  // suggestions.cc
  absl::StatusOr<std::vector<Trial>> Ask(StudyId id,
                                         std::size_t count,
                                         const Caller& caller,
                                         std::stop_token stop) override;
  absl::StatusOr<std::vector<Trial>> Suggest(StudyId id,
                                             std::size_t count,
                                             std::string_view holder,
                                             const Caller& caller,
                                             std::stop_token stop) override;
  absl::StatusOr<std::vector<PredictedPoint>> Predict(StudyId id,
                                                      std::vector<Point> points,
                                                      const std::stop_token& stop) const override;

  // leases.cc
  absl::StatusOr<Trial> Heartbeat(TrialId id, const LeaseToken& lease) override;
  absl::StatusOr<std::vector<StudyId>> Tick() override;

  // reporting.cc
  absl::StatusOr<Reported> Report(TrialId id,
                                  const std::vector<Measurement>& measurements,
                                  const std::optional<LeaseToken>& lease,
                                  const Caller& caller) override;
  void Report(TrialId id,
              const std::vector<Measurement>& measurements,
              const std::optional<LeaseToken>& lease,
              const Caller& caller,
              OnReported reported) override;
  absl::StatusOr<Reported> ReportFrom(AttemptId id,
                                      std::vector<Measurement> measurements,
                                      const Caller& caller) override;
  absl::StatusOr<Reported> Judge(TrialId id, const Caller& caller) override;
  absl::StatusOr<Trial> Complete(TrialId id,
                                 const Measurement& last,
                                 const std::optional<LeaseToken>& lease,
                                 const Caller& caller) override;
  void Complete(TrialId id,
                const Measurement& last,
                const std::optional<LeaseToken>& lease,
                const Caller& caller,
                OnTrial completed) override;
  void CompleteAsIs(TrialId id,
                    const Measurement& last,
                    const std::optional<LeaseToken>& lease,
                    const Caller& caller,
                    OnTrial completed) override;
  absl::StatusOr<Trial> Fail(TrialId id,
                             FailureClass failure,
                             std::string_view message,
                             const std::optional<LeaseToken>& lease,
                             const Caller& caller) override;
  absl::StatusOr<Trial> MarkInfeasible(TrialId id,
                                       std::string_view message,
                                       const Measurement& last,
                                       const std::optional<LeaseToken>& lease,
                                       const Caller& caller) override;
  void MarkInfeasible(TrialId id,
                      std::string_view message,
                      const Measurement& last,
                      const std::optional<LeaseToken>& lease,
                      const Caller& caller,
                      OnTrial ended) override;

  // engine_moves.cc
  absl::StatusOr<Trial> Move(TrialId id,
                             TrialState to,
                             FailureClass failure,
                             std::string_view message) override;
  absl::StatusOr<Trial> PlaceAttempt(TrialId id,
                                     const Placement& placement,
                                     std::string_view directory) override;
  absl::StatusOr<Trial> MoveAttempt(AttemptId id,
                                    AttemptState to,
                                    FailureClass failure,
                                    bool transient,
                                    std::string_view message,
                                    const std::vector<ReplicaResult>& replicas) override;

  // studies.cc
  absl::StatusOr<std::vector<Event>> ReadEvents(StudyId id,
                                                EventSeq after,
                                                std::size_t limit) const override;
  bool WaitForEvents(StudyId id,
                     EventSeq after,
                     absl::Duration timeout,
                     std::stop_token stop) const override;
  absl::StatusOr<ReplayReport> Replay(StudyId id) const override;

 private:
  // Shared with calls in flight, so that a study may be deleted under them.
  using Live = std::shared_ptr<LiveStudy>;

  // NotFound (kStudyNotFound).
  absl::StatusOr<Live> Find(StudyId id) const;
  absl::StatusOr<Study> End(StudyId id,
                            std::string_view reason,
                            StudyState ending,
                            const Caller& caller);
  absl::StatusOr<Study> ChangeStudy(StudyId id, const Caller& caller, LiveStudy::Decide decide);
  absl::StatusOr<Trial> ChangeTrial(TrialId id, const Caller& caller, LiveStudy::Decide decide);
  // A change that is in line, and what the trial is after it.
  struct TrialChange {
    Live study;
    LiveStudy::Ticket ticket;
    Trial trial;
  };
  absl::StatusOr<TrialChange> BeginTrialChange(TrialId id,
                                               const Caller& caller,
                                               LiveStudy::Decide decide);
  // Once the next number is not reserved for a suggestion that is being computed.
  void BeginAddition(StudyId id,
                     TrialAddition addition,
                     const Caller& caller,
                     std::function<void(absl::StatusOr<TrialChange>)> begun);
  absl::StatusOr<TrialChange> BeginReport(TrialId id,
                                          const std::vector<Measurement>& measurements,
                                          const std::optional<LeaseToken>& lease,
                                          const Caller& caller);
  enum class Objectives { kAll, kAsIs };  // Those that a completed trial must have.
  absl::StatusOr<TrialChange> BeginCompletion(TrialId id,
                                              const Measurement& last,
                                              Objectives objectives,
                                              const std::optional<LeaseToken>& lease,
                                              const Caller& caller);
  // Ends a trial in a state that counts for nothing; one that was told to stop is CANCELLED.
  absl::StatusOr<TrialChange> BeginVainEnd(TrialId id,
                                           TrialState end,
                                           FailureClass failure,
                                           std::string_view message,
                                           const Measurement& last,
                                           const std::optional<LeaseToken>& lease,
                                           const Caller& caller);
  static absl::StatusOr<Trial> FinishChange(absl::StatusOr<TrialChange> change);
  static void FinishChange(absl::StatusOr<TrialChange> change, OnTrial finished);

  // One creation or deletion at a time, so that a request repeated at once is seen.
  class Turn {
   public:
    explicit Turn(StudiesImpl& studies);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    StudiesImpl& studies_;
  };

  absl::Status CheckSpec(const StudySpec& spec) const;
  absl::Status CheckPlan(const AmendmentPlan& plan) const;
  // The first event of the study, with what it takes over from earlier ones.  InvalidArgument: a FieldError.
  absl::StatusOr<StudyCreated> Founded(const StudySpec& spec) const;
  absl::Status TakeOver(std::string_view name, Inheritance& inheritance) const;
  absl::StatusOr<std::optional<Study>> FindCreated(const StudySpec& spec, const Caller& caller);
  absl::StatusOr<bool> WasDeletedBefore(std::string_view name, const Caller& caller) const;
  absl::Status DeleteLive(StudyId id, std::string_view name, bool force, const Caller& caller);
  absl::Status LoadCreations();
  absl::Status LoadUnfinished();
  // Whether the study has finished.
  absl::StatusOr<bool> TickOne(StudyId id);

  Storage& storage_;
  const Clock& clock_;
  const AlgorithmSource algorithms_;

  mutable absl::Mutex mu_;
  mutable absl::flat_hash_map<StudyId, Live> live_ ABSL_GUARDED_BY(mu_);
  // By name, as far as they were created or asked for.
  mutable std::map<std::string, StudyId, std::less<>> ids_ ABSL_GUARDED_BY(mu_);
  // Studies that Tick has to look at; unset until the first.
  std::optional<std::set<StudyId>> unfinished_ ABSL_GUARDED_BY(mu_);
  // Grows whenever a study may have become active again, so that Tick forgets none that did while it looked.
  std::uint64_t extensions_ ABSL_GUARDED_BY(mu_) = 0;

  absl::Mutex turn_mu_;
  bool turn_taken_ ABSL_GUARDED_BY(turn_mu_) = false;
  // Which study a request created; unset until the first that has an id. Touched by the one whose turn it is.
  std::optional<absl::flat_hash_map<std::string, StudyId>> creations_;
};

// A trial as people and programs are to see it: with the lease as it stands in memory.
Trial Shown(const Trial& trial, const Transient& transient);

// reporting.cc. InvalidArgument: one of them holds nothing.
absl::Status CheckMeasurements(const std::vector<Measurement>& measurements);
// With what the reporter left out filled in.
Measurement Completed(Measurement measurement, const Trial& trial, absl::Time now);

// leases.cc. Aborted (kLeaseLost): the caller may not report on the trial.
absl::Status CheckLease(const Study& study,
                        const TrialRow& row,
                        const std::optional<LeaseToken>& lease);
// Takes back a trial whose lease expired, for the holder that turned out to be alive. No event where it did not expire.
void ReviveLease(Draft& draft, TrialNumber trial);
// Extends the lease by its ttl. The log hears of it if `record`, or once the expiry that it knows comes near: at most
// two events for each ttl.  REQUIRES: the trial is leased.
void RenewLease(Draft& draft, Transient& transient, TrialNumber trial, bool record);

}  // namespace vernier::study
