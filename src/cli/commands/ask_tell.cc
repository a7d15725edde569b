#include <iostream>
#include <istream>
#include <optional>
#include <string>

#include "src/cli/arguments.h"
#include "src/cli/ask_tell/session.h"
#include "src/cli/commands/commands.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

// Largest request, in bytes. A choice: `load` sends whole studies in one line.
constexpr std::size_t kMostLine = std::size_t{16} << 20;

// Reads the next line, without its end. False: end of input. By character: std::getline would read an endless line into
// memory.
absl::StatusOr<bool> ReadLine(std::istream& in, std::string& line) {
  line.clear();
  char next = 0;
  while (in.get(next) && next != '\n') {
    if (line.size() == kMostLine) {
      return InvalidArgument("a line of standard input has more than {} bytes", kMostLine);
    }
    line.push_back(next);
  }
  return in.good() || !line.empty();
}

// Uses neither a store nor a server.
absl::StatusOr<ExitCode> Converse(Context& context, const NoArgs&) {
  AskTellSession session;
  std::string line;
  for (;;) {
    VERNIER_ASSIGN_OR_RETURN(const bool is_there, ReadLine(std::cin, line));
    if (!is_there) break;
    const std::optional<std::string> answer = session.Handle(line);
    if (!answer) break;
    // Flushed, since the other side waits for it.
    context.console().out << *answer << std::endl;
  }
  return ExitCode::kOk;
}

}  // namespace

void AddAskTell(CLI::App& root, Action& chosen) {
  AddCommand<NoArgs>(root,
                     "ask-tell",
                     "Use an optimiser over JSON lines on standard input and output",
                     &Converse,
                     chosen);
}

}  // namespace vernier::cli
