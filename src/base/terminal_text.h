#pragma once

#include <string>
#include <string_view>
#include <vector>

// What a program wrote for a terminal, as the lines that a person sees there.
namespace vernier::base {

struct TerminalLine {
  std::string text;          // Without escape sequences and control characters.
  bool overwritten = false;  // Ended by a carriage return: what follows was written over it.
};

// One line of output, without its newline, as the lines that stood in its place one after the other: a carriage return or a
// run of backspaces ends one. ANSI escape sequences are taken out. Empty ones are left out.
std::vector<TerminalLine> SplitTerminalLine(std::string_view raw);

}  // namespace vernier::base
