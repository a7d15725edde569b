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

// How a trial ends.
struct TrialEnd {
  enum class Kind {
    // With the metrics of `last` (its step and elapsed time are kept with them), or, where it has none, with the last
    // measurement of each metric; the trial is FAILED with class NO_METRIC if these lack an objective.
    // InvalidArgument: `last` has metrics, but not every objective; nothing changes.
    kCompleted,
    // As kCompleted, only for foreign studies: even if an objective has no value, or one that is not finite.
    // FailedPrecondition: the study is not foreign.
    kCompletedAsIs,
    kFailed,
    kInfeasible,  // `last`: what was measured all the same, if anything was.
  };
  Kind kind = Kind::kCompleted;
  Measurement last;
  FailureClass failure = FailureClass::kNone;  // With kFailed.
  std::string message;                         // With kFailed and kInfeasible.
};

struct ReportedTrial {
  Trial trial;
  bool stop = false;  // The trial should end now; trial.stop says why.
};

// The side of those who work on trials: suggestions, leases, reports, ends.
//
// Each call takes a function that gets its answer: once, from any thread, maybe before the call returns. It must not block
// for long. The call itself waits for neither the disk nor a client, once the study is in memory (Studies::IsAtHand); what
// takes time (to load the study, to compute a suggestion) takes it in the caller's thread. Below are the same calls for those who would wait: they return the answer.
//
// Thread-safe. An answer that is OK is durable. Errors of every call: NotFound (kStudyNotFound, kTrialNotFound);
// FailedPrecondition (kIllegalTransition, kTrialFinished, kStudyNotActive); DataLoss (kDataLoss): the study is damaged in the
// store; Unavailable or ResourceExhausted: the store could not be written, nothing changed.
class Trials {
 public:
  using OnTrial = std::function<void(absl::StatusOr<Trial>)>;
  using OnTrials = std::function<void(absl::StatusOr<std::vector<Trial>>)>;
  using OnReported = std::function<void(absl::StatusOr<ReportedTrial>)>;
  using Reported = ReportedTrial;

  virtual ~Trials() = default;

  // Creates up to `count` trials in REQUESTED, each with its recorded why. Fewer if budget or space allow no more.
  // ResourceExhausted (kBudgetSpent): the trial budget is spent; (kParallelLimit): `parallel` trials are open.
  // OutOfRange (kSpaceExhausted): every point was proposed. DeadlineExceeded or Cancelled: `stop` fired, nothing changed.
  virtual void Ask(StudyId id,
                   std::size_t count,
                   const Caller& caller,
                   std::stop_token stop,
                   OnTrials asked) = 0;
  // As Ask, for a client: first what it holds already (RUNNING under its name), then trials offered again, then new ones;
  // all are RUNNING and leased to `holder` in the answer.  FailedPrecondition: the study runs its own job.
  virtual void Suggest(StudyId id,
                       std::size_t count,
                       std::string_view holder,
                       const Caller& caller,
                       std::stop_token stop,
                       OnTrials suggested) = 0;
  // A point of the user's own, as a trial in REQUESTED that is served before new suggestions, or one that was tried
  // elsewhere. Does not wait for a suggestion that is being computed.  InvalidArgument: a FieldError.
  virtual void AddTrial(StudyId id,
                        TrialAddition addition,
                        const Caller& caller,
                        OnTrial added) = 0;
  // A user's wish: a waiting trial is cancelled at once, a running one goes to STOPPING.
  virtual void StopTrial(TrialId id,
                         std::string_view reason,
                         const Caller& caller,
                         OnTrial stopped) = 0;
  // Renews the lease.  Aborted (kLeaseLost): it was lost, or the token is older than the trial's.
  virtual void Heartbeat(TrialId id, const LeaseToken& lease, OnTrial renewed) = 0;
  // Adds measurements and judges the curve. Measurements equal to one reported before are skipped.
  // `lease`: of the client that runs the trial, which a new measurement renews; unset for the engine.
  virtual void Report(TrialId id,
                      const std::vector<Measurement>& measurements,
                      const std::optional<LeaseToken>& lease,
                      const Caller& caller,
                      OnReported reported) = 0;
  // As Report, from a program of an attempt. Its measurements have the source "report"; those without an elapsed time get
  // the time since the trial started; a negative step stands for the one behind the trial's last.
  // Aborted (kLeaseLost): the attempt has ended, or a later one took its place.
  virtual void ReportFrom(AttemptId id,
                          std::vector<Measurement> measurements,
                          const Caller& caller,
                          OnReported reported) = 0;
  // Whether a trial of a study whose rule judges when asked (StudySpec::judged_when_asked) should end: judges its curve
  // as it is now. Of any other study: what was decided as its measurements came.
  virtual void Judge(TrialId id, const Caller& caller, OnReported judged) = 0;
  virtual void End(TrialId id,
                   const TrialEnd& end,
                   const std::optional<LeaseToken>& lease,
                   const Caller& caller,
                   OnTrial ended) = 0;

  // --- the same, for those who wait for the answer: made from the calls above, unless somebody can do better ---
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
