#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Small programs that are asked something, and may hang.
namespace vernier::launch {

struct BoundedRun {
  enum class End { kExited, kNotRun, kOverdue };
  End end = End::kNotRun;
  int status = 0;  // kExited: as waitpid tells it; 0 where the process around us reaps for itself.
  int error = 0;   // kNotRun: an errno.
  std::string output;  // What it printed, its beginning if that is much.
};

// Runs the program, with nothing to read, until it has ended and closed its output. argv[0] is looked up on PATH.
//
// A program that does not end in time is killed with its process group, and not waited for: one that hangs in a driver
// may be impossible to kill. `with_errors`: what it prints to its standard error is output too; else nobody sees it.
BoundedRun RunBounded(const std::vector<std::string>& argv,
                      std::int64_t patience_ms,
                      bool with_errors);

}  // namespace vernier::launch
