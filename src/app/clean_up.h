#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/service/server_state.h"
#include "vernier/core/clock.h"
#include "vernier/study_reader.h"

// Cleans up the folder of a server's runs: finds what is no longer needed.
namespace vernier::app {

// The folder of a store's runs.
struct RunsFolder {
  std::string directory;          // Absolute.
  std::string store;              // The store's file, or ":memory:".
  std::set<std::string> deleted;  // Names of studies that were deleted from the store.
};

// Reads the names of deleted studies from the store. Empty for a store in memory.  Errors: as sqlite::Inspection::Open.
absl::StatusOr<std::set<std::string>> DeletedStudies(const std::string& store);

// Notes in the folder of the runs, which is made if missing, that this store keeps its runs there.  Unavailable: it
// cannot be written.
absl::Status ClaimRuns(const std::string& runs_directory, const std::string& store);
// Takes the claim back, for a store that is about to be removed with its runs.
void DisclaimRuns(const std::string& runs_directory, const std::string& store);

// Lists what may be removed by the rule, and removes it if the rule says so:
// - runs of deleted studies;
// - environments and images that no trial used for that time, nor since the oldest unfinished trial was created;
// - packages that no study of the store names.
// Removes nothing if another store has noted that it keeps its runs there, and neither runs nor packages while a store
// that a backup replaced still exists. Never follows a link, and removes nothing that it does not recognise. What
// cannot be removed stays, and is reported with the reason.
// Cancelled: a stop was requested; what was removed until then is gone.  FailedPrecondition: a study is damaged.
// Errors: the store cannot be read.
absl::StatusOr<service::CleanUpReport> CleanUp(const StudyReader& studies,
                                               const Clock& clock,
                                               const RunsFolder& runs,
                                               const service::CleanUpRule& rule,
                                               const std::stop_token& stop);

}  // namespace vernier::app
