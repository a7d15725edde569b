#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/resources.h"
#include "vernier/core/study.h"

namespace vernier::cli {

struct ListedJob {
  Study study;
  std::string state;  // "SUCCEEDED", as it is described.
};

// The studies that run a training job, as the query wants them: filtered and ordered here, since what state a job is in is
// not the server's to know. Columns: jobId or name, state, createTime or create_time, labels.NAME.
// InvalidArgument: names the flag.
absl::StatusOr<std::vector<ListedJob>> ListJobs(Connection& connection, const Query& query);

// What of `jobs` the query wants.  InvalidArgument: names the flag.
absl::StatusOr<std::vector<ListedJob>> SelectJobs(std::vector<ListedJob> jobs, const Query& query);

}  // namespace vernier::cli
