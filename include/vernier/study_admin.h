#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/caller.h"
#include "vernier/core/amendment.h"
#include "vernier/core/metadata.h"
#include "vernier/core/study.h"

namespace vernier {

// Studies: made, steered, amended, deleted, and rid of trials.
// Thread-safe. A call that returned OK is durable. Errors of every call: NotFound (kStudyNotFound); FailedPrecondition
// (kIllegalTransition, kStudyNotActive); DataLoss (kDataLoss): the study is damaged in the store; Unavailable or
// ResourceExhausted: the store could not be written, nothing changed.
class StudyAdmin {
 public:
  virtual ~StudyAdmin() = default;

  // InvalidArgument: a FieldError, nothing is stored.  AlreadyExists (kStudyExists).
  virtual absl::StatusOr<Study> CreateStudy(const StudySpec& spec, const Caller& caller) = 0;
  // What CreateStudy would answer, nothing being stored: the study has no id. Errors as those of CreateStudy.
  virtual absl::StatusOr<Study> PreviewStudy(const StudySpec& spec) const = 0;
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
  // As if the trial had never been, for users and for the algorithm; its number is not used again. Of a study that clients
  // drive it may be in any state. Reads the whole log of a long study.  NotFound (kTrialNotFound); FailedPrecondition: the
  // study runs its own job and the trial has not ended.
  virtual absl::Status DeleteTrial(TrialId id, const Caller& caller) = 0;
  // By name, which is all that a repeated request still has: one that deleted a study before leaves alone whatever has
  // that name by now.  FailedPrecondition while trials of it run, unless `force`.  DataLoss: it is damaged; with `force`, so is
  // the page with its row. Otherwise what can be read of a damaged study is removed, and it is no more.
  virtual absl::Status Delete(std::string_view name, bool force, const Caller& caller) = 0;
};

}  // namespace vernier
