#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/environment.h"
#include "src/launch/local/gang_rules.h"

// One replica as its files and its supervisor's lock tell (src/launch/replica_files.h).
namespace vernier::launch {

// What became of the replica in the folder. A folder that does not exist was not started.
Observation Observe(const std::string& directory);

// Sees to it that the replica is never started from now on. False: it was started before, or it cannot be written down.
bool Fence(const std::string& directory);

// Runs the supervisor for the folder, with that environment, and waits until it is decided who looks after the replica: a few milliseconds.
// Unavailable: it cannot be run, or cannot use the folder; the message says why.
absl::Status SpawnSupervisor(const std::string& supervisor,
                             const std::string& directory,
                             const Environment& environment);

// Whether the folder has no records of a replica, is not there or may not be entered. One that cannot be looked at because
// a disk fails counts as one that has them.
bool HasNoRecords(const std::string& directory);

// Whether a supervisor of the replica in the folder lives, or a process that was started for it, whatever became of the
// folder: supervisors are known by their command line, the others by kReplicaVariable in their environment.
bool HasProcesses(const std::string& supervisor, const std::string& directory);

// Tells the replica's supervisor to bring it down: TERM, grace, KILL. One that was suspended is continued. False: there is
// none.
bool TerminateReplica(const std::string& supervisor, const std::string& directory);

// Kills the replica's supervisor, should there be one, and every process that was started for the replica, in its
// process group or not: found as by HasProcesses, so that no other process is ever hit, whatever process ids were used
// again since. Removes its control groups, `groups` where no record names them, and has a process of its own, of the
// supervisor's program, remove its container: an engine may take its time.
void KillReplica(const std::string& supervisor,
                 const std::string& directory,
                 const std::vector<std::string>& groups = {});

// Removes the control groups of a replica that is down, should they be left: `groups` where no record names them.
void RemoveControlGroup(const std::string& directory, const std::vector<std::string>& groups = {});

}  // namespace vernier::launch
