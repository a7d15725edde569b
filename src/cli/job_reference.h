#pragma once

#include <string>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/cli/gcloud_flags.h"
#include "src/jobs/job_name.h"
#include "vernier/core/study.h"

// JOB on a command line: an id, or a resource name projects/PROJECT/jobs/JOB.
namespace vernier::cli {

struct JobReference {
  jobs::JobName name;
  std::string study;  // The study that represents the job.

  // The words that name it, for suggested commands: "census --project p".
  std::string Words() const;
};

// Declares the argument JOB.
void AddJobOption(CLI::App& command, std::string& job);

// A project in the resource name wins over --project and $CLOUDSDK_CORE_PROJECT.
// InvalidArgument: a malformed resource name, or an id that is not valid in a project.
absl::StatusOr<JobReference> ReadJob(const std::string& job, const GcloudFlags& flags);

// If the job is missing, names its project in the error.
absl::Status ExplainMissing(const JobReference& job, absl::Status status);

// Its resource name: projects/PROJECT/jobs/JOB, or studies/STUDY without a project.
std::string JobResource(const jobs::JobName& name);

// Moves the definition into the job's project: its own name, and the names of the jobs that it resumes.
absl::Status PutInProject(const JobReference& job, StudySpec& spec);

}  // namespace vernier::cli
