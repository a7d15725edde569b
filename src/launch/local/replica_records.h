#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/local/gang_rules.h"

// One replica as its files and its supervisor's lock tell (src/launch/replica_files.h).
namespace vernier::launch {

// What became of the replica in the folder. A folder that does not exist was not started.
Observation Observe(const std::string& directory);

// Sees to it that the replica is never started from now on. False: it was started before, or it cannot be written down.
bool Fence(const std::string& directory);

// Runs the supervisor for the folder and waits until it is decided who looks after the replica: a few milliseconds.
// Unavailable: it cannot be run, or cannot use the folder; the message says why.
absl::Status SpawnSupervisor(const std::string& supervisor, const std::string& directory);

// Tells the replica's supervisor to bring it down: TERM, grace, KILL. False: there is none, or it has not said yet who it
// is.
bool TerminateReplica(const std::string& directory);

// Kills the replica's supervisor, should there be one, and every process that was started for the replica, in its
// process group or not: they are known by kReplicaVariable in their environment, so that no other process is ever hit,
// whatever process ids were used again since. Removes its control group, and has a process of its own, of the supervisor's
// program, remove its container: an engine may take its time.
void KillReplica(const std::string& supervisor, const std::string& directory);

// Removes the control group of a replica that is down, should it be left.
void RemoveControlGroup(const std::string& directory);

}  // namespace vernier::launch
