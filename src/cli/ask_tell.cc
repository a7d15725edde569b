#include <iostream>
#include <optional>
#include <string>

#include "src/cli/arguments.h"
#include "src/cli/ask_tell/session.h"
#include "src/cli/commands.h"

namespace vernier::cli {
namespace {

struct NoArgs {};

// Neither a store nor a server: the optimiser alone.
absl::StatusOr<ExitCode> Converse(Context& context, const NoArgs&) {
  AskTellSession session;
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::optional<std::string> answer = session.Handle(line);
    if (!answer) break;
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
