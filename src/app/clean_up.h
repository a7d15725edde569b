#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/service/server_state.h"
#include "vernier/core/clock.h"
#include "vernier/study_reader.h"

// What a server keeps in the folder of its runs, and what of it nobody needs any more.
namespace vernier::app {

// What is cleaned up: the folder of a store's runs.
struct RunsFolder {
  std::string directory;          // Absolute.
  std::string store;              // Its file, or ":memory:".
  std::set<std::string> deleted;  // Names of the studies that were deleted from the store.
};

// Those names, as the store has them. Empty for a store in memory.  Errors: as sqlite::Inspection::Open.
absl::StatusOr<std::set<std::string>> DeletedStudies(const std::string& store);

// Notes in the folder of the runs, which is made, that this store keeps its runs there.  Unavailable: it cannot be written.
absl::Status ClaimRuns(const std::string& runs_directory, const std::string& store);

// Lists what the rule lets go, and removes it if the rule says so:
// - runs of deleted studies;
// - environments and images that no trial asked for since then, nor since the oldest trial was created that has not ended;
// - packages that no study of the store names.
// Nothing goes if another store has noted that it keeps its runs there, and neither runs nor packages while a store that was
// replaced by a backup is kept. Never follows a link, and removes nothing that it does not know. What cannot be removed says so,
// and stays.
// Cancelled: asked to stop; what was removed by then is.  FailedPrecondition: a study is damaged.  Errors: the store cannot be
// read.
absl::StatusOr<service::CleanUpReport> CleanUp(const StudyReader& studies,
                                               const Clock& clock,
                                               const RunsFolder& runs,
                                               const service::CleanUpRule& rule,
                                               const std::stop_token& stop);

}  // namespace vernier::app
