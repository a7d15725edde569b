#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "src/base/output_line.h"

// Why a program failed, as far as the last that it printed tells.
namespace vernier::launch {

// The longest that a cause or a last line may be, in bytes.
inline constexpr std::size_t kLongestWords = 400;

// Texts of one line, printable UTF-8, at most kLongestWords each.
struct LastWords {
  // "ValueError: bad lr (train.py:12 in main)"; empty: nothing that was printed looks like a cause.
  std::string cause;
  // Where there is no cause, the last line that says anything; empty: nothing was printed.
  std::string last_line;
  // The cause is that a peer went away: whoever failed by itself is to blame rather than this one.
  bool lost_peer = false;
  friend bool operator==(const LastWords&, const LastWords&) = default;
};

// What was printed last, in order. Standard error comes first; standard output counts where that tells nothing.
//
// Of Python the exception that ended the program comes first, then where it was raised, in the program's own code if that
// is in the traceback, then what caused it. C++ (terminate, glog), Python's fault handler, Rust and Go say it in forms that
// are known; of other programs the last line that speaks of an error. Warnings, progress bars, stack dumps and what launchers
// print when a program has failed are no cause.
LastWords FindLastWords(std::span<const base::OutputLine> printed);

// What the program in the replica's folder printed last, between these times.
LastWords ReadLastWords(const std::string& folder,
                        absl::Time since = absl::InfinitePast(),
                        absl::Time until = absl::InfiniteFuture());

}  // namespace vernier::launch
