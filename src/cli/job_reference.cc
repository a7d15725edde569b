#include "src/cli/job_reference.h"

#include <vector>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "src/cli/hint.h"
#include "src/core/status.h"
#include "src/wire/names.h"

namespace vernier::cli {
namespace {

constexpr std::string_view kProjects = "projects/";
constexpr std::string_view kStudies = "studies/";  // A job without a project.

}  // namespace

std::string JobReference::Words() const {
  return name.project.empty() ? name.job : fmt::format("{} --project {}", name.job, name.project);
}

void AddJobOption(CLI::App& command, std::string& job) {
  command.add_option("JOB", job, "Id of the job, projects/PROJECT/jobs/JOB or studies/JOB")
      ->required();
}

absl::StatusOr<JobReference> ReadJob(const std::string& job, const GcloudFlags& flags) {
  JobReference reference = {.name = {.project = flags.project, .job = job}};
  if (job.starts_with(kStudies)) {
    reference.name = {.project = "", .job = job.substr(kStudies.size())};
  } else if (const std::size_t at = job.find(kProjects); job.find('/') != std::string::npos) {
    // A full URL of the API, as gcloud prints it, has a prefix before "projects/".
    const std::vector<std::string> parts =
        absl::StrSplit(job.substr(at == std::string::npos ? 0 : at), '/');
    const bool is_link = at == 0 || job.starts_with("https://");
    const bool fits = at != std::string::npos && is_link && parts.size() == 4 &&
                      parts[2] == "jobs" && !parts[1].empty() && !parts[3].empty();
    if (!fits) {
      return InvalidArgument("JOB: must be an id or projects/PROJECT/jobs/JOB, got '{}'", job);
    }
    reference.name = {.project = parts[1], .job = parts[3]};
  }
  VERNIER_ASSIGN_OR_RETURN(reference.study, jobs::StudyNameOf(reference.name));
  return reference;
}

absl::Status ExplainMissing(const JobReference& job, absl::Status status) {
  const bool is_missing = status.code() == absl::StatusCode::kNotFound;
  if (!is_missing || job.name.project.empty()) return status;
  return WithHint(NotFound("project '{}' has no job '{}'", job.name.project, job.name.job),
                  fmt::format("`vernier jobs list --project {}` lists its jobs; without --project "
                              "the jobs of no project",
                              job.name.project));
}

std::string JobResource(const jobs::JobName& name) {
  if (name.project.empty()) return wire::StudyResource(name.job);
  return fmt::format("projects/{}/jobs/{}", name.project, name.job);
}

absl::Status PutInProject(const JobReference& job, StudySpec& spec) {
  spec.name = job.study;
  for (std::string& earlier : spec.warm_start) {
    VERNIER_ASSIGN_OR_RETURN(earlier,
                             jobs::StudyNameOf({.project = job.name.project, .job = earlier}));
  }
  return absl::OkStatus();
}

}  // namespace vernier::cli
