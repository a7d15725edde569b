#pragma once

#include <sys/types.h>

#include <string>

#include "src/launch/control_group.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {

// The program, just started as the leader of a process group of its own.
struct Child {
  pid_t pid = -1;
  int stdout_fd = -1;  // Read ends, non-blocking.
  int stderr_fd = -1;
  std::string error;  // Why there is no child; empty if there is one.
};

// Starts the program in its control group, its output into pipes. It gets SIGKILL when the calling process dies. Where the
// group cannot be entered, it says so on its standard error and runs outside. A secret that cannot be read: there is no child.
Child StartChild(SupervisedProgram program, const ControlGroup& group);

// Sends the signal to every direct child of this process, which as a subreaper inherits whatever its descendants leave.
void SignalChildren(int signal);

}  // namespace vernier::launch
