#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/environment.h"
#include "src/launch/gang/gang_rules.h"

// One replica, as its files and its supervisor's lock show it (src/launch/replica_files.h).
namespace vernier::launch {

// Returns the state of the replica in the folder. A missing folder means that it was not started.
ReplicaObservation Observe(const std::string& directory);

// Prevents the replica from ever being started. False: it was started before, or the marker cannot be written.
bool Fence(const std::string& directory);

// When the replica's running program was started, by its record; nothing: it has none.
std::optional<absl::Time> StartedAt(const std::string& directory);

// Runs the supervisor for the folder, with that environment, and waits until it is decided which process supervises the
// replica: a few milliseconds.
// Unavailable: it cannot be run, or cannot use the folder; the message says why.  ResourceExhausted: the disk is full.
absl::Status SpawnSupervisor(const std::string& supervisor,
                             const std::string& directory,
                             const Environment& environment);

// Whether the folder has no records of a replica, is missing or may not be entered. False if the disk fails: the
// records may still be there.
bool HasNoRecords(const std::string& directory);

// Whether a supervisor of the replica in the folder lives, or a process that was started for it, even if the folder is
// gone. Supervisors are recognised by their command line, other processes by kReplicaVariable in their environment.
bool HasProcesses(const std::string& supervisor, const std::string& directory);

// Tells the replica's supervisor to stop it: TERM, grace, KILL. A suspended supervisor is continued. False: there is
// none.
bool TerminateReplica(const std::string& supervisor, const std::string& directory);

// Kills the replica's supervisor, if any, and every process that was started for the replica, in its process group or
// not. They are found as by HasProcesses, so that no other process is hit even if process ids were reused. Removes its
// control groups (`groups` if no record names them), and starts a process that removes its container: an engine may
// take its time.
void KillReplica(const std::string& supervisor,
                 const std::string& directory,
                 const std::vector<std::string>& groups = {});

// Removes the control groups of a replica that is down, if any are left: `groups` if no record names them.
void RemoveControlGroup(const std::string& directory, const std::vector<std::string>& groups = {});

}  // namespace vernier::launch
