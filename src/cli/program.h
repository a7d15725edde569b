#pragma once

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "src/cli/context.h"
#include "src/cli/exit_code.h"
#include "src/cli/terminal/output.h"
#include "vernier/core/clock.h"

namespace vernier::cli {

// The terminal and environment, before --color is read.
struct Terminal {
  bool is_terminal = false;
  bool no_color = false;  // $NO_COLOR is set.
  int width = 80;
  int height = 24;
  bool unicode = true;
};

// Declares every command. Parsing stores the action of the command that was named in `chosen`.
void BuildCommandLine(CLI::App& root, GlobalFlags& flags, Action& chosen);

// Parses `args` (without the program's name), runs the command, reports errors on `err`:
//   vernier: <sentence>
//     <what to do next>
ExitCode RunProgram(std::vector<std::string> args,
                    const Terminal& terminal,
                    const Clock& clock,
                    std::ostream& out,
                    std::ostream& err);

}  // namespace vernier::cli
