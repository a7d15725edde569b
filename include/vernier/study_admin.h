#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/caller.h"
#include "vernier/core/amendment.h"
#include "vernier/core/metadata.h"
#include "vernier/core/study.h"

namespace vernier {

// Creates, controls, amends and deletes studies. One part of Studies (studies.h).
//
//   const absl::StatusOr<Study> study = admin.CreateStudy(*ParseStudyFile(text), {.actor = "me"});
//   if (!study.ok()) return study.status();
//   const auto amended = admin.Amend(study->id, {.parallel = 4}, {.actor = "me"});
//   const auto stopping = admin.Stop(study->id, "no longer needed", {.actor = "me"});
//
// Thread-safe. Calls block until the change is durable. The previews are const and change nothing.
// Errors of every call: NotFound (kStudyNotFound); FailedPrecondition (kIllegalTransition, kStudyNotActive): the state
// of the study does not allow it; InvalidArgument: an argument exceeds its limit (core/limits.h), or kRequestReused;
// DataLoss (kDataLoss): the study is damaged in the store; Unavailable or ResourceExhausted: the store could not be
// written, nothing changed.
class StudyAdmin {
 public:
  virtual ~StudyAdmin() = default;

  // Creates an ACTIVE study.
  // InvalidArgument: a FieldError; nothing is stored.  AlreadyExists (kStudyExists): the name is taken.
  virtual absl::StatusOr<Study> CreateStudy(const StudySpec& spec, const Caller& caller) = 0;
  // Returns the answer that CreateStudy would give, except that the study has no id. Stores nothing. Errors: as
  // CreateStudy.
  virtual absl::StatusOr<Study> PreviewStudy(const StudySpec& spec) const = 0;
  // ACTIVE to PAUSED: no new trials start; running ones continue.
  virtual absl::StatusOr<Study> Pause(StudyId id, const Caller& caller) = 0;
  // PAUSED to ACTIVE.
  virtual absl::StatusOr<Study> Resume(StudyId id, const Caller& caller) = 0;
  // ACTIVE or PAUSED to STOPPING: waiting trials are cancelled, running ones told to stop. When the last one has ended,
  // the study is CANCELLED. `reason` is for users; empty: "stopped by <actor>".
  virtual absl::StatusOr<Study> Stop(StudyId id, std::string_view reason, const Caller& caller) = 0;
  // As Stop, for a study that has reached its purpose: it becomes COMPLETED instead.
  virtual absl::StatusOr<Study> Finish(StudyId id,
                                       std::string_view reason,
                                       const Caller& caller) = 0;
  // Changes the parts of the definition that `change` sets; concurrent amendments of different parts both take effect.
  // A change of the job or its metrics applies from the next attempt on, and earlier failures no longer count against
  // the study. A COMPLETED or FAILED study becomes ACTIVE again if the change extends it: it raises the bound that
  // ended the study, or changes what made it fail (docs/guides/extending_a_study.md). Of a STOPPING or CANCELLED study
  // only labels can change.
  // InvalidArgument: a FieldError, for a bound below what is already spent or a part that cannot change.
  virtual absl::StatusOr<Study> Amend(StudyId id,
                                      const Amendment& change,
                                      const Caller& caller) = 0;
  // Returns the answer that Amend would give. Stores nothing. Errors: as Amend.
  virtual absl::StatusOr<Study> PreviewAmendment(StudyId id, const Amendment& change) const = 0;
  // Sets metadata of the study and of trials, all or none, in any state; keys that are not given stay.
  // NotFound (kTrialNotFound): nothing was set.
  virtual absl::Status SetMetadata(StudyId id,
                                   const MetadataUpdate& values,
                                   const Caller& caller) = 0;
  // Deletes a trial for users and for the algorithm. Its number is not used again. A trial that clients run may be in
  // any state. May take long: reads the whole log of the study.
  // NotFound (kTrialNotFound).  FailedPrecondition: the study runs its own job and the trial has not ended.
  virtual absl::Status DeleteTrial(TrialId id, const Caller& caller) = 0;
  // Deletes a study with its trials and log. Takes the name, since the id is unknown when a request is repeated; a
  // repeated request does not delete a newer study of that name.
  // FailedPrecondition: trials of it are running, and `force` is false.  DataLoss: the study is damaged. With `force`,
  // a damaged study is deleted as far as it can be read; DataLoss then means that the page with its row is damaged.
  virtual absl::Status Delete(std::string_view name, bool force, const Caller& caller) = 0;
};

}  // namespace vernier
