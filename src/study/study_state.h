#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/core/curve_book.h"
#include "src/core/optimal_trials.h"
#include "src/core/outcome_constraint.h"
#include "src/study/curve_index.h"
#include "src/study/final_values.h"
#include "src/study/fingerprint.h"
#include "src/study/request_book.h"
#include "vernier/core/event.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/optimizer.h"
#include "vernier/storage.h"

namespace vernier::study {

// A trial, and what the rules must know of it besides: as snapshots have it.
struct StoredTrialEntry {
  Trial trial;
  EventSeq created_by;
  EventSeq last_event;  // The last one about it.
  // REQUESTED and up for whoever asks next: added by hand, or offered again after its lease expired.
  bool waiting = false;
  // The last lease granted, kept after it expired: its holder may still be at work.
  std::optional<Lease> last_lease;
  // Once it has ended: the event that defined what was run; 0: the study's creation.
  EventSeq defined_by;
  // When nothing was left of the attempt that decided how it ends; unset: not known better than by when it was seen.
  std::optional<absl::Time> program_ended;
  // Its point lacks values: it is ranked, but algorithms neither learn from it nor see it as pending.
  bool is_partial = false;
  // Failed for a cause that was fixed before anything ever completed: that says nothing of its point.
  bool is_forgotten = false;
};

// The same with what follows from the measurements of a trial that has not ended.
struct TrialEntry : StoredTrialEntry {
  // Measurements reported so far, by MeasurementKey; this and the next two are emptied when the trial ends.
  absl::flat_hash_set<Fingerprint> seen;
  CurveIndex curve;
  // What of the objectives' curves their final values are made of.
  FinalValues finals;
};

// Tells measurements apart by (step, time, metrics, source), bit for bit.
Fingerprint MeasurementKey(const Measurement& measurement);

// How many failures of a kind, with no success, tell that a job cannot succeed.
inline constexpr std::size_t kTellingTrials = 3;

// What somebody asked a fold for that it has left to the store.
struct Missing {
  std::set<TrialNumber> trials;    // Rows of trials.
  std::set<std::string> requests;  // What requests did.
  bool log = false;                // All of it: the study must be folded from its log.
  bool empty() const { return trials.empty() && requests.empty() && !log; }
};

// All that a study's log says, folded into one value: what the events mean.
//
// A large study leaves to the store what its rules seldom ask for: the rows of trials that have ended, and what earlier
// requests did. It is then made from a snapshot instead of the whole log (fold_snapshot.cc), and says through Need… and
// missing() what a caller must fetch and give to Recall before it asks again.
//
// Pure: it reads no clock and draws no chance; points are taken as recorded. Equal logs give equal folds. Copying is not
// possible; a snapshot for an optimiser shares the observations. Not thread-safe.
class StudyFold {
 public:
  // DataLoss: `created` is not the first event of a log.
  static absl::StatusOr<StudyFold> Start(StudyId id, const Event& created);
  // The fold as it was when the snapshot was taken, from the first event of the log and the events that reported the
  // measurements of trials that have not ended. Events after `as_of` are for Apply, which may find that the log as a whole is
  // needed (missing().log).
  // DataLoss: damaged, or made by another version: then the log must be folded.
  using ReadReports = absl::FunctionRef<absl::StatusOr<std::vector<Event>>(TrialNumber)>;
  static absl::StatusOr<StudyFold> Restore(StudyId id,
                                           const Event& created,
                                           const StudySnapshot& snapshot,
                                           ReadReports read_reports);
  StudyFold(StudyFold&&) = default;
  StudyFold& operator=(StudyFold&&) = default;

  // DataLoss: the event cannot follow the ones before it (a gap, time going back, a move from another state, an unknown
  // trial); the fold is then not to be used any more.
  absl::Status Apply(const Event& event);

  const Study& header() const { return header_; }
  // The studies that it started from.
  const std::vector<EarlierStudy>& earlier() const { return created_.earlier; }
  // The number of the trial that is created next.
  TrialNumber next_trial() const {
    return TrialNumber(created_.trials_before + static_cast<std::int64_t>(rows_.size()) + 1);
  }
  // The key of the trial's random stream.
  std::uint64_t StreamOf(TrialNumber trial) const {
    return static_cast<std::uint64_t>(created_.streams_before + trial.value());
  }
  // Of all trials, in the order of their numbers. REQUIRES: NeedLog() is OK.
  std::vector<const TrialEntry*> AllRows() const;
  // Null: no such trial, or its row is left to the store. Deleted ones are found.
  const TrialEntry* Find(TrialNumber trial) const;
  // Whether there is such a trial, be it deleted.
  bool Has(TrialNumber trial) const {
    return trial.value() > created_.trials_before && trial < next_trial();
  }

  // Unavailable: what was asked for is left to the store; it is noted as missing.
  absl::Status NeedTrial(TrialNumber trial) const;
  absl::Status NeedRequest(std::string_view request_id) const;
  absl::Status NeedLog() const;  // To look at all trials.
  const Missing& missing() const { return missing_; }
  void ForgetMissing() const { missing_ = {}; }
  // Takes what was missing: the row of a trial that has ended, from the store; all events of a request.
  void Recall(Trial trial);
  void Recall(std::string_view request_id, const std::vector<Event>& events) {
    requests_.Recall(request_id, events);
  }

  // What the next commit is to store of a snapshot, `interval` events or more after the last one; nothing: it is not due. The
  // fold goes on as if that were stored.
  std::optional<SnapshotChange> TakeSnapshot(std::int64_t interval);
  // Leaves to the store what the last snapshot has, once events up to `durable` are stored.
  void Shed(EventSeq durable);
  // The last event of the snapshot that rows and requests were last left to; 0: none were.
  EventSeq shed() const { return shed_; }
  // What of `other` differs from this, in a few words; empty: nothing. Rows that one of them leaves to the store, and what
  // requests did, are not compared.
  std::string DifferenceTo(const StudyFold& other) const;
  // Number of trials whose rows are in memory.
  std::int64_t rows_in_memory() const { return rows_in_memory_; }
  // Observations of trials that ended with something to learn from, in the order in which they ended.
  const TrialLog& finished() const { return finished_; }
  // Trials that have not ended, in the order of their numbers.
  const std::set<TrialNumber>& unfinished() const { return unfinished_; }
  // Whether nothing of the study is at work any more: every trial has ended, and so has every attempt. A trial that
  // somebody ended may end before what runs of it is taken down.
  bool IsDown() const { return unfinished_.empty() && running_.empty(); }
  // Trials that have not ended, or of which an attempt has not.
  bool IsAtWork(TrialNumber trial) const {
    return unfinished_.contains(trial) || running_.contains(trial);
  }
  std::set<TrialNumber> AtWork() const;
  // Trials that are PAUSED. They have not ended, but nothing of them is at work, and algorithms have learnt of them.
  const std::set<TrialNumber>& paused() const { return paused_trials_; }
  // Whether no trial is at work and some are paused.
  bool IsAllPaused() const {
    return !paused_trials_.empty() && paused_trials_.size() == unfinished_.size() &&
           running_.empty();
  }
  // Trials under a lease that did not expire.
  const std::set<TrialNumber>& leased() const { return leased_; }
  CurveBook& curves() { return curves_; }
  const CurveBook& curves() const { return curves_; }
  const RequestBook& requests() const { return requests_; }

  // What the optimiser left behind, and the event that carries it; empty and 0 before the first suggestion.
  const std::string& optimizer_state() const { return optimizer_state_; }
  EventSeq optimizer_state_from() const { return optimizer_state_from_; }
  // The version of an algorithm or rule that the log last speaks of; null if of none.
  const std::string* VersionInUse(std::string_view name) const;
  // In a finite space: a trial that has the point and was not cancelled.
  std::optional<TrialNumber> FindPoint(const Point& point) const;

  // Time that the time budget has counted at `now`.
  absl::Duration ActiveTime(absl::Time now) const;
  bool TimeSpent(absl::Time now) const;
  // GPU time that its trials have held by `now`, those that run included.
  absl::Duration HeldGpuTime(absl::Time now) const;
  bool GpuTimeSpent(absl::Time now) const;
  bool FailuresSpent() const;
  // Of a study with a job and without a bound of its own on failures: whether the first kTellingTrials trials that ended
  // all failed in the same way, and none has completed since. Then the job is broken, not its points. After the cause of
  // failures was fixed, it is the first ones since then.
  bool FailedAlike() const;
  // The same whatever its bound on failures is.
  bool FirstFailedAlike() const;
  // Whether its failures end the study, by its own bound or because they are alike.
  bool HasFailed() const { return FailuresSpent() || FailedAlike(); }
  // The first trials that ended, in that order, but for cancelled ones; kTellingTrials at most.
  const std::vector<TrialNumber>& first_ended() const { return first_ended_; }
  // Failed trials that count against the study: those whose cause was not fixed since.
  std::int64_t counted_failures() const { return counted_failures_; }
  // While STOPPING: the state in which the study ends.
  StudyState ending() const { return ending_; }

  // The definition that the study was last given as a whole; amendments of single parts may have changed it since.
  const StudySpec& given() const { return given_ == nullptr ? header_.spec : *given_; }
  // The definition that attempts with this Attempt::defined_by were started with, as far as job and metrics go. Null: that
  // is the one as it is now.
  std::shared_ptr<const StudySpec> DefinedBy(EventSeq defined_by) const;

 private:
  StudyFold(Study header, StudyCreated created, std::vector<OutcomeConstraint> outcome_constraints);

  absl::Status On(const Event& event, const StudyCreated& created);
  absl::Status On(const Event& event, const StudyStateChanged& change);
  absl::Status On(const Event& event, const StudyAmended& change);
  absl::Status On(const Event& event, const AlgorithmChanged& change);
  absl::Status On(const Event& event, const TrialCreated& created);
  absl::Status On(const Event& event, const TrialStateChanged& change);
  absl::Status On(const Event& event, const MeasurementReported& report);
  absl::Status On(const Event& event, const StopDecided& decided);
  absl::Status On(const Event& event, const ResumeDecided& decided);
  absl::Status On(const Event& event, const LeaseGranted& granted);
  absl::Status On(const Event& event, const LeaseRenewed& renewed);
  absl::Status On(const Event& event, const LeaseExpired& expired);
  absl::Status On(const Event& event, const AttemptPlaced& placed);
  absl::Status On(const Event& event, const AttemptStateChanged& change);
  absl::Status On(const Event& event, const TrialDeleted& deleted);
  absl::Status On(const Event& event, const MetadataChanged& change);

  struct Snapshots;  // Reads and writes them.
  // What On does of a report besides changing the trial as such.
  void NoteMeasurement(EventSeq event, const Measurement& measurement, TrialEntry& row);
  // No part of the stored snapshot is true any more.
  void DropSnapshot();

  // Of a trial that exists.
  std::size_t IndexOf(TrialNumber trial) const {
    return static_cast<std::size_t>(trial.value() - created_.trials_before - 1);
  }
  absl::StatusOr<TrialEntry*> Row(const Event& event, TrialNumber trial);
  static std::optional<absl::Time> StartedAt(const TrialEntry& row);
  void SetState(TrialEntry& row, TrialState to, bool waiting);
  absl::Status ApplyTrialEnd(const Event& event, TrialEntry& row, const TrialStateChanged& change);
  absl::Status ApplyPause(const Event& event, TrialEntry& row, const TrialStateChanged& change);
  void ApplyResumption(TrialEntry& row);
  bool KeepsConstraints(const Trial& trial) const;
  // `is_known`: algorithms have learnt of the trial already.
  absl::Status Observe(const Event& event, const TrialEntry& row, bool is_known = false);
  Observation ObservationOf(const TrialEntry& row) const;
  void Rank(const Observation& completed);
  void ForgetPoint(const Trial& trial);
  void JudgeConvergence(TrialNumber trial, const SuggestionRecord& suggestion);
  void JudgeConvergenceAnew();
  // The job is another one from here on: failures so far no longer count.
  absl::Status Redefine(const Event& event, const StudySpec& before);
  // Whether the end of the trial counts for or against the study.
  bool Counts(const TrialEntry& row) const { return row.defined_by == defined_by_; }
  // Leaves the observations of these trials out of what algorithms learn from.
  absl::Status ForgetObservations(const Event& event,
                                  const absl::flat_hash_set<TrialNumber>& trials);
  void CountNotFinite(const Measurement& measurement, Trial& trial) const;

  Study header_;
  StudyCreated created_;  // But for the definition: that is in the header.
  std::vector<OutcomeConstraint> outcome_constraints_;
  OptimalTrials optimal_;
  // By number, which go up by one. Null: left to the store.
  std::vector<std::unique_ptr<TrialEntry>> rows_;
  std::int64_t rows_in_memory_ = 0;
  CurveBook curves_;
  TrialLog finished_;
  std::set<TrialNumber> unfinished_;
  std::set<TrialNumber> paused_trials_;  // Of the unfinished ones.
  std::set<TrialNumber> running_;        // Whose last attempt has not ended.
  std::set<TrialNumber> leased_;
  std::vector<TrialNumber> first_ended_;
  RequestBook requests_;
  std::string optimizer_state_;
  EventSeq optimizer_state_from_;
  std::map<std::string, std::string, std::less<>> versions_;
  std::int64_t idle_trials_ = 0;  // Proposed in a row that were expected to improve too little.
  bool finite_ = false;
  // In finite spaces, by Space::Key: the trials that have the point and were not forgotten.
  absl::flat_hash_map<std::string, std::set<TrialNumber>> points_;
  absl::Duration paused_;
  std::optional<absl::Time> paused_since_;  // Or ended since.
  StudyState ending_ = StudyState::kCancelled;
  std::unique_ptr<StudySpec> given_;  // Null: the definition as it is.
  // By the event that defined it, once the job was changed or fixed; 0: as created.
  std::map<EventSeq, std::shared_ptr<const StudySpec>> definitions_;  // Shared with who asked.
  // The last amendment that changed the job or its metrics, or fixed the program.
  EventSeq defined_by_;
  std::int64_t counted_failures_ = 0;
  std::int64_t counted_completions_ = 0;

  // What the store has of a snapshot.
  struct Stored {
    EventSeq as_of;  // Of the last head; 0: there is none.
    std::size_t parts = 0;
    std::size_t observations = 0;  // The first ones of finished_ are in the parts.
  };
  Stored stored_;
  std::vector<TrialNumber> unstored_;  // Trials that have ended, whose curves are in no part.
  EventSeq shed_;
  // Trials that have ended, whose rows are in memory; maybe others.
  std::vector<TrialNumber> ended_rows_;
  mutable Missing missing_;
};

}  // namespace vernier::study
