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

// `jobs list`: jobs as `jobs describe` shows them, so that each of its keys can be filtered and sorted by.
namespace vernier::cli {

struct JobQuery {
  std::string project;  // Of these jobs; empty: of those that have none.
  std::string filter;
  std::vector<std::string> sort;  // "~createTime"
  std::int64_t limit = 0;         // 0: all.
  std::int64_t page_size = 0;     // How many to ask for at once; 0: as many as a page takes.
};

// The headings of the list stand for its keys: STATUS for state.
const gcloud::Aliases& JobAliases();

// A query that was understood.
struct JobSelection {
  JobQuery query;
  gcloud::Filter filter;
  std::vector<gcloud::SortKey> sort;
  std::vector<gcloud::Key> flatten;
  bool needs_trials = true;  // Of jobs that have ended, too.
};

// InvalidArgument: names the flag.
absl::StatusOr<JobSelection> ReadJobQuery(const JobQuery& query,
                                          const AnswerFormat& format,
                                          const gcloud::TimeFrame& frame);

struct JobList {
  std::vector<nlohmann::ordered_json> jobs;
  std::vector<std::string> warnings;  // "--filter: no job has 'colour'"
};

// The jobs that are wanted, newest first unless the query sorts them.
absl::StatusOr<JobList> ListJobs(Connection& connection,
                                 const JobSelection& selection,
                                 const gcloud::TimeFrame& frame);

// As ListJobs, of the jobs given.
JobList SelectJobs(std::vector<nlohmann::ordered_json> jobs,
                   const JobSelection& selection,
                   const gcloud::TimeFrame& frame);

}  // namespace vernier::cli
