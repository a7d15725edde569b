#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "src/cli/connection.h"
#include "src/cli/gcloud/filter.h"
#include "src/cli/gcloud/records.h"
#include "src/cli/gcloud_flags.h"

// `jobs list`: jobs in the form of `jobs describe`, so that every key can be filtered and sorted by.
namespace vernier::cli {

struct JobQuery {
  std::string project;  // Only its jobs; empty: jobs without a project.
  std::string filter;
  std::vector<std::string> sort;  // "~createTime"
  std::int64_t limit = 0;         // 0: all.
  std::int64_t page_size = 0;     // Jobs per call; 0: the largest page.
};

// Headings of the list as names of keys: STATUS for state.
const gcloud::Aliases& JobAliases();

// A parsed query.
struct JobSelection {
  JobQuery query;
  gcloud::Filter filter;
  std::vector<gcloud::SortKey> sort;
  std::vector<gcloud::Key> flatten;
  bool needs_trials = true;  // Of ended jobs as well.
};

// InvalidArgument: names the flag.
absl::StatusOr<JobSelection> ReadJobQuery(const JobQuery& query,
                                          const AnswerFormat& format,
                                          const gcloud::TimeFrame& frame);

struct JobList {
  std::vector<nlohmann::ordered_json> jobs;
  std::vector<std::string> warnings;  // "--filter: no job has 'colour'"
};

// The selected jobs, newest first unless the query sorts them.
absl::StatusOr<JobList> ListJobs(Connection& connection,
                                 const JobSelection& selection,
                                 const gcloud::TimeFrame& frame);

// As ListJobs, but selects from `jobs`.
JobList SelectJobs(std::vector<nlohmann::ordered_json> jobs,
                   const JobSelection& selection,
                   const gcloud::TimeFrame& frame);

}  // namespace vernier::cli
