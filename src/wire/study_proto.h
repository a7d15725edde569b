#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "vernier/core/amendment.h"
#include "vernier/core/study.h"
#include "vernier/v1/study.pb.h"
#include "vernier/v1/study_service.pb.h"
#include "vernier/v1/training_job.pb.h"

// Studies and their definitions.
namespace vernier::wire {

// Bounds on the numbers of things in a definition that a client sends, to be asked before it is decoded: what it takes to decode
// one grows faster than they do.  InvalidArgument: a FieldError.
absl::Status CheckCounts(const v1::StudySpec& spec);

void EncodeSpec(const StudySpec& spec, v1::StudySpec* out);
// The definition of the study `name`, defaults filled in. DecodeSpec(EncodeSpec(spec)) == spec.
// InvalidArgument: a FieldError with the path that the study file would have. What the message can say and the study
// forbids is caught by Validate(StudySpec); the space is checked here, since none exists unchecked.
absl::StatusOr<StudySpec> DecodeSpec(std::string name, const v1::StudySpec& spec);

void EncodeStudy(const Study& study, v1::Study* out);
// The id is 0: the wire knows studies by name.
absl::StatusOr<Study> DecodeStudy(const v1::Study& study);

// The fields of request.study that the mask names are to replace a study's own. An empty mask names the fields that are
// set. A whole definition has no name.
// InvalidArgument: a FieldError at "update_mask": a path that cannot change; or at the field that cannot be read.
absl::StatusOr<Amendment> DecodeAmendment(const v1::UpdateStudyRequest& request);

}  // namespace vernier::wire
