#pragma once

#include <signal.h>

#include <vector>

#include "absl/time/time.h"

namespace vernier::cli {

// Counts SIGINT and SIGTERM during its lifetime instead of ending the process, at most twice: a third signal kills it,
// so that the user can always get out. At most one instance at a time, on the main thread. Only the command line
// installs signal handlers, the library never does.
class Interrupts {
 public:
  enum class Heed {
    kUser,      // SIGINT and SIGTERM.
    kTerminal,  // Also SIGHUP, unless it is ignored (nohup): the terminal was closed.
    // Also the first SIGPIPE: for commands that must clean up however they end.
    kAll,
  };

  explicit Interrupts(Heed heed = Heed::kUser);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Number of signals so far.
  int count() const;
  // The first signal; 0: none.
  int signal_number() const;
  // Returns when a signal has arrived since the last call of Wait, or after `patience`.
  void Wait(absl::Duration patience);

 private:
  struct Replaced {
    int signal_number;
    struct sigaction action;
  };

  std::vector<Replaced> replaced_;
  int pipe_[2];
};

}  // namespace vernier::cli
