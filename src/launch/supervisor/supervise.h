#pragma once

#include <array>
#include <csignal>
#include <string>

namespace vernier::launch {

// Signals that ask a supervisor to stop its replica. SIGURG is for schedulers that send a signal to the program too
// (kStopSignal in src/launch/slurm/slurm.h).
inline constexpr std::array kStopSignals = {SIGTERM, SIGINT, SIGURG};
// Whether one of them arrived while no program ran. They are blocked, so one sent between two runs stays pending.
bool IsStopPending();

// Runs the program that the file `program` of the current directory describes until it and every process that it leaves
// behind have ended, in its own control groups, and writes the files listed in src/launch/replica_files.h. Restarts the
// program where src/jobs/replica_exit.h says so, at most as often as the file allows, and not after a request to stop.
// Returns once exit.json is written and the control groups are removed.
//
// On one of kStopSignals the program's process group gets SIGTERM, and every descendant gets SIGKILL after the grace period.
// Processes that the program leaves behind when it ends by itself are stopped in the same way. If the program is the
// client of a container engine, the container is removed at the end of each run.
// REQUIRES: kStopSignals and SIGCHLD are blocked; the calling process is a subreaper without children.
void Supervise();

// Writes the end of a replica whose program never ran: it could not, or it was told to stop before.
void RecordFailure(std::string error, bool host_failed);
void RecordStopped();

}  // namespace vernier::launch
