#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/study/study_state.h"
#include "vernier/core/event.h"
#include "vernier/core/study.h"

// What may be changed of a study after its creation, and what that means for one that has ended.
namespace vernier::study {

// What an amendment comes to for a study as it is.
struct AmendmentPlan {
  StudyAmended amended;
  StudySpec spec;        // The definition after it.
  bool extends = false;  // The study has ended and becomes active again.
};

// InvalidArgument: a FieldError that names a part that cannot change, or a bound below what is spent.
// FailedPrecondition (kStudyNotActive): the study is STOPPING or CANCELLED, and more than its labels would change.
// Whether the definition after it is valid remains to be checked.
absl::StatusOr<AmendmentPlan> PlanAmendment(const StudyFold& fold,
                                            const Amendment& change,
                                            absl::Time now);

// Whether `change` is what came to `amended` before.
bool IsRepeated(const StudyFold& fold, const StudyAmended& amended, const Amendment& change);

}  // namespace vernier::study
