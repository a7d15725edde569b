#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/launch/replica_files.h"
#include "vernier/core/ids.h"
#include "vernier/launcher.h"

// The folders and files that launchers write before the replicas of an attempt are started.
namespace vernier::launch {

// "attempt 2 of trial 7", for messages.
std::string AttemptName(const AttemptId& id);

// Makes the folder and those above it, for this user alone.  Errors: as NotWritten.
absl::Status MakeFolder(const std::string& path);

// Makes a new, empty folder: <root>/<study>/trial-<n>/attempt-<k>. A study may have the name of a deleted one whose files
// are still there; then "~2", "~3", … is appended.
absl::StatusOr<std::string> NewAttemptFolder(const std::string& root, const GangRequest& request);

// The folder of the gang's i-th replica.
std::string ReplicaFolder(const PlacedGang& placed, std::size_t i);

// The files of the program's secrets, by variable: the supervisor reads them, so that their values are in no record.
// InvalidArgument: a secret names no file of the folder.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SecretFiles(
    const ReplicaProgram& program, const std::string& secrets_directory);

// Makes the folders and files that the program needs, and adds what all replicas of the gang have in common: grace,
// output limit, restarts, how its code is unpacked.
absl::Status PrepareReplica(const GangProgram& gang,
                            const ReplicaProgram& program,
                            const std::string& folder,
                            SupervisedProgram& supervised);

// Writes what the supervisor runs. Comes last: a folder without it belongs to a replica that no supervisor can run.
absl::Status WriteProgram(const std::string& folder, const SupervisedProgram& supervised);

}  // namespace vernier::launch
