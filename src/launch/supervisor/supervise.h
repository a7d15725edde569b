#pragma once

namespace vernier::launch {

// Runs the program that the file `program` of the current directory describes, to its end and that of every process it
// leaves, in control groups of its own, and writes the files that src/launch/replica_files.h lists. Where
// src/jobs/replica_exit.h says so, it starts the program again, as often as the file allows and unless it was told to stop.
// Returns when exit.json is written and the groups are gone.
//
// On SIGTERM the program's process group gets SIGTERM, and after the grace period every descendant SIGKILL. When the
// program ends by itself, what it leaves is treated the same way. Its container, should it have one, is removed at its end.
// REQUIRES: SIGTERM, SIGINT and SIGCHLD are blocked; the calling process is a subreaper with no children.
void Supervise();

}  // namespace vernier::launch
