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
#include "src/study/curve_index.h"
#include "src/study/engine_moves.h"
#include "src/study/listeners.h"
#include "src/study/live_study.h"
#include "src/study/rules.h"
#include "src/study/warm_start.h"
#include "vernier/studies.h"

namespace vernier::study {

// Studies over live studies. Split by concern: studies.cc, trials.cc, suggestions.cc, leases.cc, reporting.cc,
// engine_moves.cc; replay.cc stands alone.
//
// Lock order: a LiveStudy's lock and mu_ are never held together.
class StudiesImpl final : public Studies, public EngineMoves {
 public:
  // Events between two snapshots of a study. Few, since processes that share a file read the study at each turn; a snapshot
  // costs little beside 500 commits.
  static constexpr std::int64_t kSnapshotInterval = 500;

  StudiesImpl(Storage& storage,
              const Clock& clock,
              AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn(),
              std::int64_t snapshot_interval = kSnapshotInterval)
      : storage_(storage),
        clock_(clock),
        algorithms_(std::move(algorithms)),
        snapshot_interval_(snapshot_interval) {}

  bool IsAtHand(StudyId id) const override {
    const Live live = FindAtHand(id);
    return live != nullptr && live->is_loaded();
  }
  bool SuggestsAtOnce(StudyId id) const override {
    const Live live = FindAtHand(id);
    return live != nullptr && live->is_loaded() && live->suggests_at_once();
  }
  EngineMoves& engine_moves() override { return *this; }

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
  absl::Status ScanStudies(StudyId after, const std::function<bool(Study)>& visit) const override;
  std::vector<DamagedStudy> DamagedStudies() const override;
  StudyDurations RecentTimes() const override;
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
  absl::StatusOr<std::vector<Trial>> ListTrialsAtWork(StudyId id) const override;
  absl::Status ScanTrials(StudyId id,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) const override;
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) const override;
  absl::StatusOr<CurvePart> ReadCurve(TrialId id, const CurveQuery& query) const override;
  void AddTrial(StudyId id, TrialAddition addition, const Caller& caller, OnTrial added) override;
  absl::StatusOr<Trial> AddTrial(StudyId id,
                                 const TrialAddition& addition,
                                 const Caller& caller) override;
  void AddTrials(StudyId id,
                 std::vector<TrialAddition> additions,
                 const Caller& caller,
                 OnTrials added) override;
  absl::StatusOr<std::vector<Trial>> AddTrials(StudyId id,
                                               const std::vector<TrialAddition>& additions,
                                               const Caller& caller) override;
  absl::Status DeleteTrial(TrialId id, const Caller& caller) override;
  void StopTrial(TrialId id,
                 std::string_view reason,
                 const Caller& caller,
                 OnTrial stopped) override;
  absl::StatusOr<Trial> StopTrial(TrialId id,
                                  std::string_view reason,
                                  const Caller& caller) override;

  // suggestions.cc
  void Ask(StudyId id,
           std::size_t count,
           const Caller& caller,
           std::stop_token stop,
           OnTrials asked) override;
  void Suggest(StudyId id,
               std::size_t count,
               std::string_view holder,
               const Caller& caller,
               std::stop_token stop,
               OnTrials suggested) override;
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
  void Heartbeat(TrialId id, const LeaseToken& lease, OnTrial renewed) override;
  absl::StatusOr<Trial> Heartbeat(TrialId id, const LeaseToken& lease) override;
  absl::StatusOr<Trial> EndLease(TrialId id,
                                 const LeaseToken& lease,
                                 const Caller& caller) override;
  absl::StatusOr<std::vector<StudyId>> Tick() override;
  absl::StatusOr<Ticked> TickLoaded() override;
  absl::Status Load(StudyId id) override;

  // reporting.cc
  void Report(TrialId id,
              const std::vector<Measurement>& measurements,
              const std::optional<LeaseToken>& lease,
              const Caller& caller,
              OnReported reported) override;
  absl::StatusOr<Reported> Report(TrialId id,
                                  const std::vector<Measurement>& measurements,
                                  const std::optional<LeaseToken>& lease,
                                  const Caller& caller) override;
  void ReportFrom(AttemptId id,
                  std::vector<Measurement> measurements,
                  const Caller& caller,
                  OnReported reported) override;
  absl::StatusOr<Reported> ReportFrom(AttemptId id,
                                      std::vector<Measurement> measurements,
                                      const Caller& caller) override;
  void Judge(TrialId id, const Caller& caller, OnReported judged) override;
  absl::StatusOr<Reported> Judge(TrialId id, const Caller& caller) override;
  void End(TrialId id,
           const TrialEnd& end,
           const std::optional<LeaseToken>& lease,
           const Caller& caller,
           OnTrial ended) override;
  absl::StatusOr<Trial> End(TrialId id,
                            const TrialEnd& end,
                            const std::optional<LeaseToken>& lease,
                            const Caller& caller) override;

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
  std::unique_ptr<Subscription> Subscribe(std::function<void(StudyId)> changed) const override;
  absl::StatusOr<ReplayReport> Replay(StudyId id) const override;

  // Studies whose fold is in memory, and rows of trials in these.
  std::size_t CountInMemory() const;
  std::int64_t CountRowsInMemory() const;

 private:
  // Shared with calls in flight, so that a study may be deleted under them.
  using Live = std::shared_ptr<LiveStudy>;

  // NotFound (kStudyNotFound).
  absl::StatusOr<Live> Find(StudyId id) const;
  // The same by somebody whose interest does not keep the study in memory.
  absl::StatusOr<Live> FindUnused(StudyId id) const;
  // The study as far as it is in memory; null: nothing of it is.
  Live FindAtHand(StudyId id) const;
  // What to read the study from: null where its rows say all there is to say, so that its log need not be folded.
  absl::StatusOr<Live> FindToRead(StudyId id) const;
  // Lets studies leave memory that have finished or were not used for a while, the longest unused first where there are many.
  void ReleaseUnused();
  struct InMemory {
    StudyId id;
    Live live;
    LiveStudy::Fold fold;
  };
  // The longest unused first.
  std::vector<InMemory> ListInMemory() const;
  // Of a study that was released: takes it out of live_, unless somebody uses it again.
  void Forget(const InMemory& released);
  absl::StatusOr<Study> End(StudyId id,
                            std::string_view reason,
                            StudyState ending,
                            const Caller& caller);
  absl::StatusOr<Study> ChangeStudy(StudyId id, const Caller& caller, LiveStudy::Decide decide);
  // Waits until it is durable.
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
  absl::StatusOr<TrialChange> BeginReport(TrialId id,
                                          const std::vector<Measurement>& measurements,
                                          const std::optional<LeaseToken>& lease,
                                          const Caller& caller);
  absl::StatusOr<TrialChange> BeginReportFrom(AttemptId id,
                                              std::vector<Measurement> measurements,
                                              const Caller& caller);
  absl::StatusOr<TrialChange> BeginJudgement(TrialId id, const Caller& caller);
  absl::StatusOr<TrialChange> BeginRenewal(TrialId id, const LeaseToken& lease);
  absl::StatusOr<TrialChange> BeginStop(TrialId id, std::string_view reason, const Caller& caller);
  absl::StatusOr<TrialChange> BeginEnd(TrialId id,
                                       const TrialEnd& end,
                                       const std::optional<LeaseToken>& lease,
                                       const Caller& caller);
  absl::StatusOr<TrialChange> BeginCompletion(TrialId id,
                                              const TrialEnd& end,
                                              const std::optional<LeaseToken>& lease,
                                              const Caller& caller);
  // Ends a trial in a state that counts for nothing; one that was told to stop is CANCELLED.
  absl::StatusOr<TrialChange> BeginFailure(TrialId id,
                                           const TrialEnd& end,
                                           const std::optional<LeaseToken>& lease,
                                           const Caller& caller);
  static absl::StatusOr<Trial> FinishChange(absl::StatusOr<TrialChange> change);
  static void FinishChange(absl::StatusOr<TrialChange> change, OnTrial finished);
  static absl::StatusOr<Reported> FinishReport(absl::StatusOr<TrialChange> change);
  static void FinishReport(absl::StatusOr<TrialChange> change, OnReported finished);
  // What is handed out, and the change that has to be durable before it may be told.
  struct PendingSuggestions {
    Live study;
    LiveStudy::Ticket ticket;
    absl::StatusOr<std::vector<Trial>> trials;
  };
  // Once the next number is not reserved for a suggestion that is being computed.
  void BeginAddition(StudyId id,
                     std::vector<TrialAddition> additions,
                     const Caller& caller,
                     std::function<void(absl::StatusOr<PendingSuggestions>)> begun);
  // `holder`: of the leases; none for the engine, whose trials stay in REQUESTED.
  absl::StatusOr<PendingSuggestions> BeginSuggest(StudyId id,
                                                  std::size_t count,
                                                  std::optional<std::string> holder,
                                                  const Caller& caller,
                                                  const std::stop_token& stop);
  static absl::StatusOr<std::vector<Trial>> AnswerSuggest(
      absl::StatusOr<PendingSuggestions> pending);
  static void AnswerSuggest(absl::StatusOr<PendingSuggestions> handed, OnTrials told);

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

  // The study as its row has it.
  absl::StatusOr<Study> ReadRow(StudyId id) const;
  // NotFound (kTrialNotFound): no such trial, or it was deleted.
  absl::StatusOr<Trial> ReadTrialRow(TrialId id) const;
  // The curve of a trial that has ended, or whose study is not in memory: what a row of a running one has of it.
  struct StoredCurve {
    TrialId trial;
    std::int64_t measurements = 0;
    CurveIndex index;
  };
  absl::StatusOr<std::shared_ptr<const StoredCurve>> IndexStoredCurve(
      TrialId id, std::int64_t measurements) const;
  absl::StatusOr<CurvePart> ReadStoredCurve(TrialId id,
                                            std::int64_t measurements,
                                            const CurveQuery& query) const;
  // Reads the part of these events that the query asks for.
  absl::Status ReadChosen(TrialId id,
                          const std::vector<EventSeq>& events,
                          const CurveQuery& query,
                          CurvePart& part) const;
  absl::Status CheckSpec(const StudySpec& spec) const;
  absl::Status CheckPlan(const AmendmentPlan& plan) const;
  // The first event of the study, with what it takes over from earlier ones.  InvalidArgument: a FieldError.
  absl::StatusOr<StudyCreated> Founded(const StudySpec& spec) const;
  absl::Status TakeOver(std::string_view name, Inheritance& inheritance) const;
  absl::StatusOr<std::optional<Study>> FindCreated(const StudySpec& spec, const Caller& caller);
  absl::StatusOr<bool> WasDeletedBefore(std::string_view name, const Caller& caller) const;
  // By the names alone, as the study's row cannot be read.
  absl::StatusOr<StudyId> FindUnreadable(std::string_view name) const;
  absl::Status DeleteLive(StudyId id, std::string_view name, bool force, const Caller& caller);
  absl::Status LoadCreations();
  absl::Status LoadUnfinished();
  // Those that can be read, one by one; the others are noted.
  absl::Status ScanReadable(StudyId after, const std::function<bool(Study)>& visit) const;
  // Notes that the study is damaged, or that it is not.
  void NoteDamage(StudyId id, const std::string& name, const absl::Status& error) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // Whether it was found damaged within the last minute: to fold its log again would tell no more.
  bool IsDamaged(StudyId id, absl::Time now) const ABSL_LOCKS_EXCLUDED(mu_);
  // Whether the study has finished.
  absl::StatusOr<bool> TickOne(StudyId id);
  // `loads`: those that are not in memory, too; nothing is `unloaded` then.
  absl::StatusOr<Ticked> TickThose(bool loads);

  Storage& storage_;
  const Clock& clock_;
  const AlgorithmCatalogue algorithms_;
  const std::int64_t snapshot_interval_;
  // With live studies.
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  mutable RecentDurations suggestions_;
  mutable RecentDurations commits_;

  mutable absl::Mutex mu_;
  // The last long one that was read; shared with who reads it.
  mutable std::shared_ptr<const StoredCurve> long_curve_ ABSL_GUARDED_BY(mu_);
  // Those that are in memory, or were a moment ago.
  mutable absl::flat_hash_map<StudyId, Live> live_ ABSL_GUARDED_BY(mu_);
  // By name, as far as they were created or asked for.
  mutable std::map<std::string, StudyId, std::less<>> ids_ ABSL_GUARDED_BY(mu_);
  struct Damage {
    DamagedStudy study;
    absl::Time looked;  // When it was met last.
  };
  mutable std::map<StudyId, Damage> damaged_ ABSL_GUARDED_BY(mu_);
  // Unfinished studies that were released: for them, time brings no change.
  mutable std::set<StudyId> resting_ ABSL_GUARDED_BY(mu_);
  // Studies that Tick has to look at; unset until the first.
  std::optional<std::set<StudyId>> unfinished_ ABSL_GUARDED_BY(mu_);
  // Grows whenever a study may have become active again, so that Tick forgets none that did while it looked.
  std::uint64_t extensions_ ABSL_GUARDED_BY(mu_) = 0;

  absl::Mutex turn_mu_;
  bool turn_taken_ ABSL_GUARDED_BY(turn_mu_) = false;
  // Which study a request created; unset until the first that has an id. Touched by the one whose turn it is.
  std::optional<absl::flat_hash_map<std::string, StudyId>> creations_;
};

// The store's NotFound as users are to hear it, `what` being the study; any other status as it is.
absl::Status NoStudy(absl::Status status, std::string_view what);

// When leases are over by the clock of this process (Transient::lease_expires).
using LeaseTimes = std::map<TrialNumber, absl::Time>;
// A trial as people and programs are to see it: with the lease as it stands in memory.
Trial Shown(Trial trial, const LeaseTimes& expires);
Trial Shown(const Trial& trial, const Transient& transient);

// reporting.cc. InvalidArgument: one of them holds nothing.
absl::Status CheckMeasurements(const std::vector<Measurement>& measurements);
// InvalidArgument: the trial would have too many metrics. `last`: those that it has (Trial::last).
absl::Status CheckTrialMetrics(const std::optional<Measurement>& last,
                               const std::vector<Measurement>& measurements);
// With what the reporter left out filled in.
Measurement FillIn(Measurement measurement, const Trial& trial, absl::Time now);

// leases.cc. Aborted (kLeaseLost): the caller may not report on the trial.
absl::Status CheckLease(const Study& study,
                        const TrialEntry& row,
                        const std::optional<LeaseToken>& lease);
// The lease lasts its ttl from now on. Returns when it is over, for an event.
absl::Time Extend(const Draft& draft, Transient& transient, TrialNumber trial);
// Takes back a trial whose lease expired, for the holder that turned out to be alive. No event where it did not expire.
void ReviveLease(Draft& draft, Transient& transient, TrialNumber trial);
// Ends the leases that are over.
void ExpireLeases(Draft& draft, Transient& transient);
// Extends the lease by its ttl. The log hears of it if `record`, or once the expiry that it knows comes near: at most
// two events for each ttl.  REQUIRES: the trial is leased.
void RenewLease(Draft& draft, Transient& transient, TrialNumber trial, bool record);

}  // namespace vernier::study
