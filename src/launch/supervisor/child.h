#pragma once

#include <sys/types.h>

#include <string>

#include "src/launch/control_group.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {

// The program, just started, as the leader of its own process group.
struct Child {
  pid_t pid = -1;
  int stdout_fd = -1;  // Read ends, non-blocking.
  int stderr_fd = -1;
  std::string error;  // Why there is no child; empty if there is one.
};

// Starts the program in its control group, with its output in pipes. The kernel kills it if the calling process dies.
// If the group cannot be entered, a line on the program's standard error says so and the program runs outside of the
// group. If a secret cannot be read, no child is started and `error` says why.
Child StartChild(SupervisedProgram program, const ControlGroup& group);

// Sends the signal to every direct child of this process, a subreaper that inherits orphaned descendants.
void SignalChildren(int signal);

}  // namespace vernier::launch
