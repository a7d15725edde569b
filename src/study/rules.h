#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/study/draft.h"
#include "src/study/live_study.h"
#include "src/study/state_machine.h"
#include "vernier/studies.h"

// The rules that several calls share. Those that add events cannot fail; those that may refuse add nothing.
namespace vernier::study {

// Who stopped a trial, where it was no stopping rule.
inline constexpr std::string_view kUserStop = "user";
inline constexpr std::string_view kStudyStop = "study";

Driver DriverOf(const Study& study);
std::string StudyTitle(const Study& study);  // "study 'digits'"
std::string TrialTitle(TrialNumber trial);   // "trial 7"

// InvalidArgument: a FieldError; the caller's name or its request's id is too long.
absl::Status CheckCaller(const Caller& caller);
// NotFound (kTrialNotFound).
absl::Status NoTrial(const Study& study, TrialNumber trial);
// NoTrial: there is none, or it was deleted.  Unavailable: StudyFold::NeedTrial.
absl::Status CheckTrial(const StudyFold& fold, TrialNumber trial);
// FailedPrecondition (kStudyNotActive): the study takes no new trials.
absl::Status CheckActive(const Study& study);
// FailedPrecondition: the study is not foreign, so that its trials need every parameter and objective.
absl::Status CheckForeign(const Study& study);
// ResourceExhausted (kBudgetSpent): no trial may be created any more.
absl::Status CheckBudget(const StudyFold& fold, absl::Time now);
// ResourceExhausted (kParallelLimit): no further trial may be open.
absl::Status CheckParallel(const Study& study);
// Number of trials that may be created now, and that may be open in addition. Not below 0.
std::int64_t TrialRoom(const Study& study);
std::int64_t ParallelRoom(const Study& study);

// The record of the caller's request if it was made before, with all of its trials in memory; null
// if it is new.
absl::StatusOr<const RequestRecord*> FindRequest(const StudyFold& fold,
                                                 const Caller& caller,
                                                 Verb verb,
                                                 std::optional<TrialNumber> trial = std::nullopt);
absl::Status RequestReused(const Caller& caller);

// Events of one trial. REQUIRES: the move is legal.
void AddMove(Draft& draft,
             TrialNumber trial,
             TrialState to,
             std::string_view message = "",
             FailureClass failure = FailureClass::kNone);
// The trial's result if it ended now, by the rules of its objectives (Objective::final).
Measurement FinalMeasurement(const Draft& draft, TrialNumber trial);
// Completes the trial with the metrics, the step and the time of `last`. A trial whose objective is
// NaN or infinite there has diverged and becomes FAILED.
void AddCompletion(Draft& draft,
                   TrialNumber trial,
                   const Measurement& last,
                   std::string_view message = "");
// Completes a trial that was told to stop after its program had run to its end.
void AddWholeCompletion(Draft& draft, TrialNumber trial, const Measurement& last);
// Pauses the trial, with the result that it would end with; one that has diverged becomes FAILED.
void AddPause(Draft& draft, TrialNumber trial);
// The same in another state that ends a trial; `last` may be empty.
void AddEnd(Draft& draft,
            TrialNumber trial,
            TrialState end,
            const Measurement& last,
            std::string_view message,
            FailureClass failure,
            bool ran_to_end = false);
// The record of a rule's verdict on the trials as they were after the event `as_of`.
StopRecord RecordOf(const EarlyStopper& rule, const Verdict& verdict, EventSeq as_of);
void AddStop(Draft& draft, TrialNumber trial, std::string_view rule, std::string_view explanation);
// Ends a trial that waits, or tells one that is at work to stop. Does nothing if it was told
// already.
void AddWithdrawal(Draft& draft,
                   TrialNumber trial,
                   std::string_view rule,
                   std::string_view explanation);

// Ends all paused trials as they are: COMPLETED, or CANCELLED where a value of an objective is missing. Without a reason:
// no other trial is left to run, and their rule resumes none of them.
void EndPaused(Draft& draft, std::string_view reason = "");

// Moves the study to STOPPING, and on to its end if nothing is at work.
void AddStudyStop(Draft& draft,
                  std::string_view reason,
                  StudyState ending = StudyState::kCancelled);
// Adds what follows from the change for the study as a whole: it has failed, its time is over, it
// is done. Comes last in every change.
void Settle(Draft& draft, const Transient& transient);

}  // namespace vernier::study
