#pragma once

#include <signal.h>

#include <vector>

#include "absl/time/time.h"

namespace vernier::cli {

// Counts SIGINT and SIGTERM while it lives, instead of dying of them: twice. Whoever sends a third one wants the process
// gone whatever it waits for, and gets it. At most one at a time; for the program's main thread. Library code installs no
// handlers: this is the command line's own.
class Interrupts {
 public:
  enum class Heed {
    kUser,      // SIGINT and SIGTERM.
    kTerminal,  // Also SIGHUP, unless it is ignored (nohup): the terminal was closed.
    // Also the first SIGPIPE: for who must tidy up, whatever ends the command.
    kAll,
  };

  explicit Interrupts(Heed heed = Heed::kUser);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // How many came so far.
  int count() const;
  // The first that came; 0: none.
  int signal_number() const;
  // Returns when one has come since the last call of Wait, or after `patience`.
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
