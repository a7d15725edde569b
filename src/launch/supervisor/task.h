#pragma once

namespace vernier::launch {

// Looks after one replica as a task of a Slurm job, in the foreground: its rank (SLURM_PROCID) says which
// (src/launch/gang_tasks.h). Agrees on addresses with the other tasks, puts them into the program, and supervises that
// (supervise.h). Returns when exit.json is written; at once if the replica was started before, or never shall be.
//
// Every failure is recorded as the replica's end.
// REQUIRES: as Supervise.
// Returns the exit status: 0; 3, the attempt's folder cannot be used, the reason is on stderr.
int RunTask(const char* attempt_folder);

}  // namespace vernier::launch
