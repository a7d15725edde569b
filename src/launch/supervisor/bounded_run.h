#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Runs helper programs with a time limit: they may hang.
namespace vernier::launch {

// Where a program's standard error goes: it is discarded, belongs to the output, or is kept apart.
enum class ErrorOutput { kDropped, kMerged, kApart };

struct BoundedRun {
  enum class End { kExited, kNotRun, kOverdue };
  End end = End::kNotRun;
  // kExited: the status of waitpid; 0 if the surrounding process ignores SIGCHLD, so that the kernel reaps its
  // children.
  int status = 0;
  int error = 0;       // kNotRun: an errno.
  std::string output;  // What it printed; the first `most_output` bytes of longer output.
  std::string errors;  // The same of its standard error, if that is kept apart.
};

// A choice: far more than most programs print that are asked something.
inline constexpr std::size_t kUsualOutput = std::size_t{1} << 20;

// Runs the program with empty standard input, until it has ended and closed its output. argv[0] is looked up on PATH.
// `environment`: its variables, NAME=VALUE; empty: those of this process.
//
// A program that does not end in time is killed with its process group, and is not waited for: one that hangs in a
// driver may be impossible to kill.
BoundedRun RunBounded(const std::vector<std::string>& argv,
                      std::int64_t patience_ms,
                      ErrorOutput errors,
                      std::size_t most_output = kUsualOutput,
                      const std::vector<std::string>& environment = {});

}  // namespace vernier::launch
