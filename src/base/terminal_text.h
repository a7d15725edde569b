#pragma once

#include <string>
#include <string_view>
#include <vector>

// Turns text written for a terminal into the lines that a person sees there.
namespace vernier::base {

struct TerminalLine {
  std::string text;          // Without escape sequences and control characters.
  bool overwritten = false;  // Ended by a carriage return: the next line replaced it.
};

// Splits a line of output (without its newline) into the lines that stood in its place in turn: a carriage return or a
// run of backspaces ends one. Removes ANSI escape sequences. Empty lines are left out.
std::vector<TerminalLine> SplitTerminalLine(std::string_view raw);

}  // namespace vernier::base
