#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/clock.h"
#include "vernier/core/durations.h"
#include "vernier/core/event.h"
#include "vernier/core/metadata.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/optimizer.h"
#include "vernier/storage.h"

namespace vernier {

// Who makes a change, and which call it is. Repeating a call with the same non-empty request_id returns the first
// answer and changes nothing; reusing the id for a different call is InvalidArgument (kRequestReused).
struct Caller {
  std::string actor;
  std::string request_id;
};

// A client's proof that the trial is its own to report on. For trials that the engine runs: none.
struct LeaseToken {
  std::string holder;
  std::int64_t token = 0;
};

// A trial that a user adds.
struct TrialAddition {
  // Only for foreign studies: the point may lack values, `last` may lack objectives or be empty, and its values may be NaN
  // or infinite.
  bool as_is = false;
  Point point;                            // Its numbers may be of either kind (Space::InKind).
  std::vector<Measurement> measurements;  // Its curve so far.
  // Tried elsewhere: what it came to, of which metrics, step and elapsed time count; and why it cannot be evaluated, if so.
  std::optional<Measurement> last;
  std::optional<std::string> infeasible;
  Metadata metadata;
};

// Which points of a trial's curve.
struct CurveQuery {
  // Only measurements that have this metric. Empty: all of them.
  std::string metric;
  // Number of points to choose at most: the first and the last, and between them the lowest and the highest value of the
  // metric (else of the first objective) in each of equal parts of the curve. 0: all points. Else at least 4.
  std::size_t max_points = 0;
  // Of those that were chosen, number to skip, and most to return; 0: no limit.
  std::size_t offset = 0;
  std::size_t limit = 0;
};

struct CurvePart {
  std::vector<Measurement> measurements;  // In the order in which they were stored.
  std::size_t chosen = 0;                 // Number of points that max_points leaves.
  std::size_t total = 0;                  // Number of points before that.
};

// What takes time: see Studies::RecentTimes.
struct StudyDurations {
  Durations suggestions;
  Durations commits;
};

// A study that cannot be read: rows or events of it are damaged.
struct DamagedStudy {
  StudyId id;
  std::string name;
  absl::Status error;  // DataLoss (kDataLoss).
  absl::Time since;    // When it was met first.
};

struct ReplayReport {
  struct Line {
    EventSeq event;
    TrialNumber trial;
    enum class Result { kVerified, kDiverged, kUnverifiable } result;
    std::string detail;  // What differs, or why it cannot be verified.
  };
  std::int64_t suggestions = 0;
  std::int64_t stops = 0;
  std::int64_t verified = 0;
  std::vector<Line> problems;  // Diverged and unverifiable ones.
  bool diverged() const;
};

// The rules of studies and trials over a Storage: the state machines of ARCHITECTURE.md, budgets, leases, suggestions,
// early stopping, replay. Every change is one commit of events.
//
// Thread-safe; starts no thread. Durability: a call that returned OK, or that told its OnTrial a trial, is durable. All
// changes of a store must go through one Studies object at a time. Suggestions are computed outside every lock, one at a
// time for each study.
// Errors of every call: DataLoss (kDataLoss): the study is damaged in the store; NotFound (kStudyNotFound, kTrialNotFound); FailedPrecondition (kIllegalTransition,
// kTrialFinished, kStudyNotActive); Unavailable or ResourceExhausted: the store could not be written, nothing changed.
class Studies {
 public:
  // Neither is owned: `storage` and `clock` must outlive the result. `algorithms`: what studies may name.
  static std::unique_ptr<Studies> Create(
      Storage& storage,
      const Clock& clock,
      AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn());
  virtual ~Studies() = default;

  // --- studies ---
  // InvalidArgument: a FieldError, nothing is stored.  AlreadyExists (kStudyExists).
  virtual absl::StatusOr<Study> CreateStudy(const StudySpec& spec, const Caller& caller) = 0;
  // What CreateStudy would answer, nothing being stored: the study has no id. Errors as those of CreateStudy.
  virtual absl::StatusOr<Study> PreviewStudy(const StudySpec& spec) const = 0;
  virtual absl::StatusOr<Study> GetStudy(StudyId id) const = 0;
  virtual absl::StatusOr<Study> FindStudy(std::string_view name) const = 0;
  // What the name stands for, found without copying the study.
  virtual absl::StatusOr<StudyId> FindStudyId(std::string_view name) const = 0;
  // The study's definition, shared and not copied: what Amend changes of it may be older than the call.
  virtual absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(StudyId id) const = 0;
  // The definition that an attempt was started with (Attempt::defined_by), as far as its job and metrics go.
  virtual absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(
      StudyId id, EventSeq defined_by) const = 0;
  // All but those whose row is damaged: DamagedStudies has these.
  virtual absl::StatusOr<std::vector<Study>> ListStudies() const = 0;
  // Calls `visit` with one study after the other, in the order of ids and behind `after`, until it returns false. Holds a few
  // of them at a time: for lists of any length. Those whose row is damaged are left out, as by ListStudies.
  virtual absl::Status ScanStudies(StudyId after,
                                   const std::function<bool(Study)>& visit) const = 0;
  // What Tick, ListStudies and ScanStudies could not read, in the order of ids. The others are not affected.
  virtual std::vector<DamagedStudy> DamagedStudies() const = 0;
  // How long suggestions took to compute, and changes to become durable. Waits for nobody.
  virtual StudyDurations RecentTimes() const = 0;
  virtual absl::StatusOr<Study> Pause(StudyId id, const Caller& caller) = 0;
  virtual absl::StatusOr<Study> Resume(StudyId id, const Caller& caller) = 0;
  // To STOPPING; waiting trials are cancelled, running ones told to stop; when the last has ended, CANCELLED.
  virtual absl::StatusOr<Study> Stop(StudyId id, std::string_view reason, const Caller& caller) = 0;
  // As Stop, of a study that has reached what it was for: COMPLETED in the end.
  virtual absl::StatusOr<Study> Finish(StudyId id,
                                       std::string_view reason,
                                       const Caller& caller) = 0;
  // Changes what is named, so that of amendments made at once none undoes another. A change of the job or its metrics counts
  // from the next attempt on; failures before it no longer count against the study. A COMPLETED or FAILED study becomes
  // ACTIVE again if the change extends it: a bound that ended it is raised, what made it fail is changed. One that is
  // STOPPING or CANCELLED takes labels only.
  // InvalidArgument: a FieldError: a bound below what is spent already, a part of the definition that cannot change.
  virtual absl::StatusOr<Study> Amend(StudyId id,
                                      const Amendment& change,
                                      const Caller& caller) = 0;
  // What Amend would answer, nothing being stored. Errors as those of Amend.
  virtual absl::StatusOr<Study> PreviewAmendment(StudyId id, const Amendment& change) const = 0;
  // Sets what is named, at any time.  NotFound (kTrialNotFound): nothing was set.
  virtual absl::Status SetMetadata(StudyId id,
                                   const MetadataUpdate& values,
                                   const Caller& caller) = 0;
  // By name, which is all that a repeated request still has: one that deleted a study before leaves alone whatever has
  // that name by now.  FailedPrecondition while trials of it run, unless `force`.  DataLoss: it is damaged; with `force`, so is
  // the page with its row. Otherwise what can be read of a damaged study is removed, and it is no more.
  virtual absl::Status Delete(std::string_view name, bool force, const Caller& caller) = 0;

  // --- trials ---
  virtual absl::StatusOr<Trial> GetTrial(TrialId id) const = 0;
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(StudyId id) const = 0;
  // Those that have not ended, or of which an attempt has not, in the order of their numbers.
  virtual absl::StatusOr<std::vector<Trial>> ListTrialsAtWork(StudyId id) const = 0;
  // Calls `visit` with one trial after the other, in the order of the scan, until it returns false. They are read from the store
  // as of one moment during the call, which holds neither a lock nor more than one of them: for lists of any length. `visit`
  // must not call this object.
  virtual absl::Status ScanTrials(StudyId id,
                                  const TrialScan& scan,
                                  const std::function<bool(Trial)>& visit) const = 0;
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) const = 0;
  // A part of the curve, or a picture of all of it. Costs as much as the points returned, and a look at one number for
  // each of the others.
  virtual absl::StatusOr<CurvePart> ReadCurve(TrialId id, const CurveQuery& query) const = 0;

  // Creates up to `count` trials in REQUESTED, each with its recorded why. Fewer if budget or space allow no more.
  // ResourceExhausted (kBudgetSpent): the trial budget is spent; (kParallelLimit): `parallel` trials are open.
  // OutOfRange (kSpaceExhausted): every point was proposed. DeadlineExceeded or Cancelled: `stop` fired, nothing changed.
  virtual absl::StatusOr<std::vector<Trial>> Ask(StudyId id,
                                                 std::size_t count,
                                                 const Caller& caller,
                                                 std::stop_token stop) = 0;
  // As Ask, for a client: first what it holds already (RUNNING under its name), then trials offered again, then new ones;
  // all are RUNNING and leased to `holder` on return.  FailedPrecondition: the study runs its own job.
  virtual absl::StatusOr<std::vector<Trial>> Suggest(StudyId id,
                                                     std::size_t count,
                                                     std::string_view holder,
                                                     const Caller& caller,
                                                     std::stop_token stop) = 0;
  // What the algorithm's model expects at `points` (Optimizer::Predict), from the trials that have ended. Their numbers
  // may be of either kind. Changes nothing.
  virtual absl::StatusOr<std::vector<PredictedPoint>> Predict(
      StudyId id, std::vector<Point> points, const std::stop_token& stop) const = 0;
  // A point of the user's own, as a trial in REQUESTED that is served before new suggestions, or one that was tried
  // elsewhere.  InvalidArgument: a FieldError.
  virtual absl::StatusOr<Trial> AddTrial(StudyId id,
                                         const TrialAddition& addition,
                                         const Caller& caller) = 0;
  // Gets what a call would have returned: once, from any thread, maybe before the call returns. Must not block for long.
  using OnTrial = std::function<void(absl::StatusOr<Trial>)>;
  // The same without waiting for the disk, nor for a suggestion that is being computed.
  virtual void AddTrial(StudyId id,
                        TrialAddition addition,
                        const Caller& caller,
                        OnTrial added) = 0;
  // As if it had never been, for users and for the algorithm; its number is not used again. Of a study that clients drive
  // it may be in any state.  FailedPrecondition: the study runs its own job and the trial has not ended.
  virtual absl::Status DeleteTrial(TrialId id, const Caller& caller) = 0;

  // Aborted (kLeaseLost): the lease was lost or the token is older than the trial's.
  virtual absl::StatusOr<Trial> Heartbeat(TrialId id, const LeaseToken& lease) = 0;

  struct Reported {
    Trial trial;
    bool stop = false;  // The trial should end now; trial.stop says why.
  };
  // Adds measurements and judges the curve. Measurements equal to one reported before are skipped.
  // `lease`: of the client that runs the trial, which a new measurement renews; unset for the engine.
  virtual absl::StatusOr<Reported> Report(TrialId id,
                                          const std::vector<Measurement>& measurements,
                                          const std::optional<LeaseToken>& lease,
                                          const Caller& caller) = 0;
  using OnReported = std::function<void(absl::StatusOr<Reported>)>;
  // The same without waiting for the disk; `reported` as OnTrial.
  virtual void Report(TrialId id,
                      const std::vector<Measurement>& measurements,
                      const std::optional<LeaseToken>& lease,
                      const Caller& caller,
                      OnReported reported) = 0;
  // As Report, from a program of an attempt. Its measurements have the source "report"; those without an elapsed time get
  // the time since the trial started; a negative step stands for the one behind the trial's last.
  // Aborted (kLeaseLost): the attempt has ended, or a later one took its place.
  virtual absl::StatusOr<Reported> ReportFrom(AttemptId id,
                                              std::vector<Measurement> measurements,
                                              const Caller& caller) = 0;
  // Whether a trial of a study whose rule judges when asked (StudySpec::judged_when_asked) should end: judges its curve
  // as it is now. Of any other study: what was decided as its measurements came.
  virtual absl::StatusOr<Reported> Judge(TrialId id, const Caller& caller) = 0;
  // Ends the trial with the metrics of `last` (its step and elapsed time are kept with them), or, where it has none, with
  // the last measurement of each metric; the trial is FAILED with class NO_METRIC if these lack an objective.
  // InvalidArgument: `last` has metrics, but not every objective; nothing changes.
  virtual absl::StatusOr<Trial> Complete(TrialId id,
                                         const Measurement& last,
                                         const std::optional<LeaseToken>& lease,
                                         const Caller& caller) = 0;
  // The same without waiting for the disk.
  virtual void Complete(TrialId id,
                        const Measurement& last,
                        const std::optional<LeaseToken>& lease,
                        const Caller& caller,
                        OnTrial completed) = 0;
  // As Complete, only for foreign studies: the trial becomes COMPLETED even if an objective has no value, or one that is
  // not finite.  FailedPrecondition: the study is not foreign.
  virtual void CompleteAsIs(TrialId id,
                            const Measurement& last,
                            const std::optional<LeaseToken>& lease,
                            const Caller& caller,
                            OnTrial completed) = 0;
  virtual absl::StatusOr<Trial> Fail(TrialId id,
                                     FailureClass failure,
                                     std::string_view message,
                                     const std::optional<LeaseToken>& lease,
                                     const Caller& caller) = 0;
  // `last`: what was measured all the same, if anything was.
  virtual absl::StatusOr<Trial> MarkInfeasible(TrialId id,
                                               std::string_view message,
                                               const Measurement& last,
                                               const std::optional<LeaseToken>& lease,
                                               const Caller& caller) = 0;
  // The same without waiting for the disk.
  virtual void MarkInfeasible(TrialId id,
                              std::string_view message,
                              const Measurement& last,
                              const std::optional<LeaseToken>& lease,
                              const Caller& caller,
                              OnTrial ended) = 0;
  // A user's wish: a waiting trial is cancelled at once, a running one goes to STOPPING.
  virtual absl::StatusOr<Trial> StopTrial(TrialId id,
                                          std::string_view reason,
                                          const Caller& caller) = 0;

  // --- for the engine ---
  // Moves a trial along DESIGN's table; `failure`, `message` with FAILED and CANCELLED.
  virtual absl::StatusOr<Trial> Move(TrialId id,
                                     TrialState to,
                                     FailureClass failure,
                                     std::string_view message) = 0;
  // Records a new attempt in PLACED and moves the trial to PREPARING, durably, before anything is started.
  virtual absl::StatusOr<Trial> PlaceAttempt(TrialId id,
                                             const Placement& placement,
                                             std::string_view directory) = 0;
  // Records a state of the trial's last attempt. Repeating the same state is OK and records nothing, unless a replica of
  // a running one was restarted meanwhile.
  virtual absl::StatusOr<Trial> MoveAttempt(AttemptId id,
                                            AttemptState to,
                                            FailureClass failure,
                                            bool transient,
                                            std::string_view message,
                                            const std::vector<ReplicaResult>& replicas) = 0;
  // What time and counts decide: expired leases, spent time budgets, studies that are done or have failed too often.
  // Call it now and then; every change it makes is an event. Returns the studies that are not finished, in the order of
  // their ids. A study that cannot be changed holds up no other: it is an error only if none can.
  virtual absl::StatusOr<std::vector<StudyId>> Tick() = 0;
  // The same in two steps, for a thread that must not wait. TickLoaded leaves alone what would have to be read from the store
  // first, which takes seconds for a large study: those are for Load, which does of one study what Tick does.
  struct Ticked {
    std::vector<StudyId> unfinished;  // In the order of their ids.
    std::vector<StudyId> unloaded;    // Maybe finished.
  };
  virtual absl::StatusOr<Ticked> TickLoaded() = 0;
  virtual absl::Status Load(StudyId id) = 0;

  // --- the log ---
  // Durable events after `after`, oldest first, at most `limit`.
  virtual absl::StatusOr<std::vector<Event>> ReadEvents(StudyId id,
                                                        EventSeq after,
                                                        std::size_t limit) const = 0;
  // Blocks until the study has a durable event after `after`, `deadline` passes or `stop` fires. True if it has one.
  virtual bool WaitForEvents(StudyId id,
                             EventSeq after,
                             absl::Duration timeout,
                             std::stop_token stop) const = 0;
  // Ends when it is destroyed, once a call that is under way has returned.
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  // Calls `changed` whenever a study has new durable events, or was deleted: from any thread, at times more often than
  // needed. It must return at once, and call nothing here.  The subscription must end before the Studies does.
  virtual std::unique_ptr<Subscription> Subscribe(std::function<void(StudyId)> changed) const = 0;
  // Recomputes every suggestion and every stop verdict from the log and compares.
  virtual absl::StatusOr<ReplayReport> Replay(StudyId id) const = 0;
};

}  // namespace vernier
