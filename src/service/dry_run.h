#pragma once

#include "absl/status/statusor.h"
#include "vernier/core/clock.h"
#include "vernier/studies.h"

namespace vernier::service {

// What CreateStudy would answer, with nothing stored: the study is made in an empty store of its own, so that every check
// of a real creation is made. Errors as Studies::CreateStudy.
absl::StatusOr<Study> DryRunCreate(const Studies& studies,
                                   const Clock& clock,
                                   const StudySpec& spec,
                                   const Caller& caller);

}  // namespace vernier::service
