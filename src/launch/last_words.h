#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "src/base/output_line.h"

// Finds out why a program failed, from the last lines that it printed.
namespace vernier::launch {

// Most bytes of a cause or a last line. A choice: it begins the message of a trial, one line in lists.
inline constexpr std::size_t kLongestWords = 400;

// Each is one line of printable UTF-8, at most kLongestWords long.
struct LastWords {
  // "ValueError: bad lr (train.py:12 in main)"; empty: nothing looks like a cause.
  std::string cause;
  // If there is no cause: the last line with content; empty: nothing was printed.
  std::string last_line;
  // The cause is a lost peer, so a replica that failed by itself is to blame instead.
  bool lost_peer = false;
  friend bool operator==(const LastWords&, const LastWords&) = default;
};

// Finds the cause in the last lines, given in order. Standard error is searched first, standard output only if that has
// no cause.
//
// For Python: the exception that ended the program, where it was raised (in the program's own code if the traceback has
// such a frame), then the exception that caused it. The forms of C++ (terminate, glog), Python's fault handler, Rust
// and Go are known; for other programs, the last line that mentions an error. Warnings, progress bars, stack dumps and
// messages of launchers about a failed program are no cause.
LastWords FindLastWords(std::span<const base::OutputLine> printed);

// The same for the output of the replica in the folder between these times.
LastWords ReadLastWords(const std::string& folder,
                        absl::Time since = absl::InfinitePast(),
                        absl::Time until = absl::InfiniteFuture());

}  // namespace vernier::launch
