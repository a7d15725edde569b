#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/caller.h"
#include "vernier/core/metadata.h"
#include "vernier/core/space.h"
#include "vernier/core/trial.h"

namespace vernier {

// A failure of a trial that was tried elsewhere.
struct TrialFailure {
  FailureClass failure = FailureClass::kUserError;
  std::string message;
};

// A trial that a user adds. Without an end (`last`, `stopped`, `infeasible`, `failed`) it waits to be run.
struct TrialAddition {
  // Only for foreign studies: the point may lack values, `last` may lack objectives or be empty, and its values may be NaN
  // or infinite.
  bool as_is = false;
  Point point;  // A whole number may be an integer or a double (Space::InKind).
  std::vector<Measurement> measurements;  // Its curve so far.
  // Set: the point was tried elsewhere, and the trial completes with these metrics, step and elapsed time.
  std::optional<Measurement> last;
  // Set: it was stopped early elsewhere, for this reason. It completes with `last`; without `last` it is CANCELLED.
  std::optional<std::string> stopped;
  // Set: the point was tried elsewhere and cannot be evaluated, for this reason. `last` is then what was measured
  // anyway.
  std::optional<std::string> infeasible;
  // Set: the point was tried elsewhere, and the trial failed without values. Without `last`, `stopped` and `infeasible`.
  std::optional<TrialFailure> failed;
  Metadata metadata;
};

// How a trial ends.
struct TrialEnd {
  enum class Kind {
    // With the metrics of `last`, and its step and elapsed time. If `last` has no metrics: with the last measurement of
    // each metric; if these lack an objective, the trial becomes FAILED with class NO_METRIC instead.
    // InvalidArgument: `last` has metrics, but not every objective; nothing changes.
    kCompleted,
    // As kCompleted, for foreign studies only: also if an objective has no value, or one that is not finite.
    // FailedPrecondition: the study is not foreign.
    kCompletedAsIs,
    // Without values; another try of the point might succeed.
    kFailed,
    // The point cannot be evaluated. `last`: what was measured anyway, if anything.
    kInfeasible,
  };
  Kind kind = Kind::kCompleted;
  Measurement last;
  // With kCompleted, of a trial that was told to stop: it had run to its end before, so that it is none that was stopped early.
  bool ran_to_end = false;
  FailureClass failure = FailureClass::kNone;  // With kFailed.
  std::string message;                         // With kFailed and kInfeasible.
};

// The answer to a report.
struct ReportedTrial {
  Trial trial;
  bool stop = false;  // The trial should end now; trial.stop says why.
};

// What workers do with trials: suggestions, leases, reports, ends. One part of Studies (studies.h).
//
//   const auto trials = studies.Suggest(study, 1, "worker-1", {.actor = "worker-1"}, {});
//   if (!trials.ok()) return trials.status();
//   const TrialId id{study, trials->front().number};
//   const LeaseToken lease{.holder = "worker-1", .token = trials->front().lease->token};
//   const auto reported = studies.Report(id, {{.step = 1, .metrics = {{"loss", 0.7}}}}, lease, {.actor = "worker-1"});
//   const auto completed = studies.Complete(id, {.metrics = {{"loss", 0.5}}}, lease, {.actor = "worker-1"});
//
// Each call has two forms. The first passes its answer to a function: once, from any thread, possibly before the call
// returns; the function must not block. If the study is in memory (Studies::IsAtHand), this form does not wait for the
// disk. Loading a study and computing a suggestion take place in the caller's thread. The second form, further below,
// blocks and returns the answer.
//
// Thread-safe. A change is durable when its answer is OK. Errors of every call: NotFound (kStudyNotFound,
// kTrialNotFound); FailedPrecondition (kIllegalTransition, kTrialFinished, kStudyNotActive); InvalidArgument: an
// argument exceeds its limit (core/limits.h), or kRequestReused; DataLoss (kDataLoss): the study is damaged in the
// store; Unavailable or ResourceExhausted: the store could not be written, nothing changed.
class Trials {
 public:
  using OnTrial = std::function<void(absl::StatusOr<Trial>)>;
  using OnTrials = std::function<void(absl::StatusOr<std::vector<Trial>>)>;
  using OnReported = std::function<void(absl::StatusOr<ReportedTrial>)>;
  using Reported = ReportedTrial;

  virtual ~Trials() = default;

  // Creates 1 to `count` trials in REQUESTED, each with a recorded SuggestionRecord. Fewer than `count` if the budget,
  // StudySpec::parallel or the space allow no more.
  // ResourceExhausted: the budget is spent (kBudgetSpent), or `parallel` trials are open (kParallelLimit).  OutOfRange
  // (kSpaceExhausted): every point was proposed.  DeadlineExceeded or Cancelled: `stop` fired, nothing changed.
  virtual void Ask(StudyId id,
                   std::size_t count,
                   const Caller& caller,
                   std::stop_token stop,
                   OnTrials asked) = 0;
  // Gives the client `holder` 1 to `count` trials, all RUNNING and leased to it: first those it has already, then
  // waiting ones (whose lease expired, or which a user added), then new ones. Errors: as Ask.
  // FailedPrecondition: the study runs its own job.
  virtual void Suggest(StudyId id,
                       std::size_t count,
                       std::string_view holder,
                       const Caller& caller,
                       std::stop_token stop,
                       OnTrials suggested) = 0;
  // Adds a point of the user's choice: as a trial in REQUESTED, to be run before new suggestions, or as a finished one
  // that was tried elsewhere. Does not wait for a suggestion that is being computed.
  // InvalidArgument: a FieldError.  ResourceExhausted (kBudgetSpent): the budget is spent.
  virtual void AddTrial(StudyId id,
                        TrialAddition addition,
                        const Caller& caller,
                        OnTrial added) = 0;
  // Adds trials as AddTrial does, in this order: all or none, in one change.
  // InvalidArgument: a FieldError with a path such as "trials[3].point.lr".  ResourceExhausted (kBudgetSpent): the
  // budget has no room for all of them.
  virtual void AddTrials(StudyId id,
                         std::vector<TrialAddition> additions,
                         const Caller& caller,
                         OnTrials added) = 0;
  // Stops a trial on a user's request: a waiting trial is cancelled at once, a running one goes to STOPPING. `reason`
  // is for users; empty: "stopped by <actor>".
  virtual void StopTrial(TrialId id,
                         std::string_view reason,
                         const Caller& caller,
                         OnTrial stopped) = 0;
  // Renews the lease. A lease that expired is revived if no other client has got the trial since.
  // Aborted (kLeaseLost): the trial was leased again, or was never leased to this client.
  virtual void Heartbeat(TrialId id, const LeaseToken& lease, OnTrial renewed) = 0;
  // Adds measurements to the curve, and judges it if the study has a stopping rule. Skips measurements that were
  // reported before. Fills in the source "client", and the current time if a measurement's time is the Unix epoch.
  // `lease`: the lease of the client that runs the trial; a new measurement renews it. Unset for the engine.
  // Aborted (kLeaseLost): as Heartbeat.
  virtual void Report(TrialId id,
                      const std::vector<Measurement>& measurements,
                      const std::optional<LeaseToken>& lease,
                      const Caller& caller,
                      OnReported reported) = 0;
  // As Report, from a program of an attempt. Sets the source "report", and the elapsed time since the start of the
  // trial if a measurement has none. A negative step means the step after the trial's last one.
  // Aborted (kLeaseLost): the attempt has ended, or a later one took its place.
  virtual void ReportFrom(AttemptId id,
                          std::vector<Measurement> measurements,
                          const Caller& caller,
                          OnReported reported) = 0;
  // Returns whether the trial should end. If the study judges on request (StudySpec::judged_when_asked), judges the
  // curve now and records a verdict to stop. Otherwise returns what was decided when the measurements arrived.
  virtual void Judge(TrialId id, const Caller& caller, OnReported judged) = 0;
  // Ends the trial. A trial that was told to stop and has no values becomes CANCELLED instead of FAILED or
  // INFEASIBLE.
  // Aborted (kLeaseLost): as Heartbeat.  InvalidArgument: see TrialEnd.
  virtual void End(TrialId id,
                   const TrialEnd& end,
                   const std::optional<LeaseToken>& lease,
                   const Caller& caller,
                   OnTrial ended) = 0;

  // --- the same calls, blocking: each returns the answer once it is durable ---
  // The defaults wait for the form above.
  virtual absl::StatusOr<std::vector<Trial>> Ask(StudyId id,
                                                 std::size_t count,
                                                 const Caller& caller,
                                                 std::stop_token stop);
  virtual absl::StatusOr<std::vector<Trial>> Suggest(StudyId id,
                                                     std::size_t count,
                                                     std::string_view holder,
                                                     const Caller& caller,
                                                     std::stop_token stop);
  virtual absl::StatusOr<Trial> AddTrial(StudyId id,
                                         const TrialAddition& addition,
                                         const Caller& caller);
  virtual absl::StatusOr<std::vector<Trial>> AddTrials(StudyId id,
                                                       const std::vector<TrialAddition>& additions,
                                                       const Caller& caller);
  virtual absl::StatusOr<Trial> StopTrial(TrialId id,
                                          std::string_view reason,
                                          const Caller& caller);
  virtual absl::StatusOr<Trial> Heartbeat(TrialId id, const LeaseToken& lease);
  virtual absl::StatusOr<Reported> Report(TrialId id,
                                          const std::vector<Measurement>& measurements,
                                          const std::optional<LeaseToken>& lease,
                                          const Caller& caller);
  virtual absl::StatusOr<Reported> ReportFrom(AttemptId id,
                                              std::vector<Measurement> measurements,
                                              const Caller& caller);
  virtual absl::StatusOr<Reported> Judge(TrialId id, const Caller& caller);
  virtual absl::StatusOr<Trial> End(TrialId id,
                                    const TrialEnd& end,
                                    const std::optional<LeaseToken>& lease,
                                    const Caller& caller);
  // End with each kind, blocking.
  absl::StatusOr<Trial> Complete(TrialId id,
                                 const Measurement& last,
                                 const std::optional<LeaseToken>& lease,
                                 const Caller& caller);
  absl::StatusOr<Trial> Fail(TrialId id,
                             FailureClass failure,
                             std::string_view message,
                             const std::optional<LeaseToken>& lease,
                             const Caller& caller);
  absl::StatusOr<Trial> MarkInfeasible(TrialId id,
                                       std::string_view message,
                                       const Measurement& last,
                                       const std::optional<LeaseToken>& lease,
                                       const Caller& caller);
};

}  // namespace vernier
