#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Projects are name spaces of jobs: the same job id in two projects names two jobs. A job of a project is the study
// PROJECT--JOB, a job without one the study JOB.
namespace vernier::jobs {

struct JobName {
  std::string project;  // Empty: none.
  std::string job;
  friend bool operator==(const JobName&, const JobName&) = default;
};

// The name of the study that the job is. Characters of the project that no study's name may have are written _XX, in
// hexadecimal, and one that begins with no letter gets p__ before it.
// InvalidArgument: the job has a project, and its id has dashes; or the name is longer than a study's may be.
absl::StatusOr<std::string> StudyNameOf(const JobName& name);

// The job that a study is; of one without a project its name.
JobName JobNameOf(std::string_view study);

}  // namespace vernier::jobs
