#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Projects are namespaces of jobs: one job id in two projects names two jobs. A job of a project is the study
// PROJECT--JOB, a job without one the study JOB.
namespace vernier::jobs {

struct JobName {
  std::string project;  // Empty: no project.
  std::string job;
  friend bool operator==(const JobName&, const JobName&) = default;
};

// The name of the job's study. Characters of the project that study names exclude are written _XX in hexadecimal; a
// project that does not begin with a letter gets the prefix p__.
// InvalidArgument: the job has a project, and dashes in its id; or the name is too long for a study.
absl::StatusOr<std::string> StudyNameOf(const JobName& name);

// The job of a study; without a project, its id is the study's name.
JobName JobNameOf(std::string_view study);

}  // namespace vernier::jobs
