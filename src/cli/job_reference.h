#pragma once

#include <string>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/cli/gcloud_flags.h"
#include "src/jobs/job_name.h"
#include "vernier/core/study.h"

// The JOB of a command line: an id, or a resource name, projects/PROJECT/jobs/JOB.
namespace vernier::cli {

struct JobReference {
  jobs::JobName name;
  std::string study;  // That the job is.

  // For commands that we suggest: "census --project p".
  std::string Words() const;
};

// Declares JOB.
void AddJobOption(CLI::App& command, std::string& job);

// The project of a resource name comes before that of --project and $CLOUDSDK_CORE_PROJECT.
// InvalidArgument: no such resource name, or no id that a project may have.
absl::StatusOr<JobReference> ReadJob(const std::string& job, const GcloudFlags& flags);

// Of a job that there is not, names its project.
absl::Status ExplainMissing(const JobReference& job, absl::Status status);

// What the job is called outside: projects/PROJECT/jobs/JOB, or studies/STUDY without a project.
std::string JobResource(const jobs::JobName& name);

// Makes the definition of a job that of one in its project: its name, and that of the job that it resumes.
absl::Status PutInProject(const JobReference& job, StudySpec& spec);

}  // namespace vernier::cli
