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
// How many trials may be created now; how many more may be open. Not below 0.
std::int64_t TrialRoom(const Study& study);
std::int64_t ParallelRoom(const Study& study);

// What the caller's request did before, whose trials can be found then; null if it is new.
// InvalidArgument (kRequestReused): it was another call.  Unavailable: StudyFold::NeedRequest, NeedTrial.
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
// What the trial reported, as it counts if it ends now (Objective::final).
Measurement FinalMeasurement(const Draft& draft, TrialNumber trial);
// Of `last` its metrics count, its step and its time. A trial whose objective is NaN or infinite there has diverged: it is
// FAILED.
void AddCompletion(Draft& draft,
                   TrialNumber trial,
                   const Measurement& last,
                   std::string_view message = "");
// The same in another state that ends a trial; `last` may be empty.
void AddEnd(Draft& draft,
            TrialNumber trial,
            TrialState end,
            const Measurement& last,
            std::string_view message,
            FailureClass failure);
void AddStop(Draft& draft, TrialNumber trial, std::string_view rule, std::string_view explanation);
// Ends a trial that waits, or tells one that is worked on to stop. Leaves one that is told already.
void AddWithdrawal(Draft& draft,
                   TrialNumber trial,
                   std::string_view rule,
                   std::string_view explanation);

// To STOPPING and, where nothing is left to come down, to the end.
void AddStudyStop(Draft& draft,
                  std::string_view reason,
                  StudyState ending = StudyState::kCancelled);
// What follows from the change for the study as a whole: failed too often, out of time, done. Ends every change.
void Settle(Draft& draft, const Transient& transient);

}  // namespace vernier::study
