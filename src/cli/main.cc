// The process: environment and terminal are read here, once, so that everything below RunProgram can be tested without
// them.

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/base/log.h"
#include "src/cli/program.h"
#include "vernier/core/clock.h"

namespace {

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Whether the locale can show block characters. Without any locale variable the answer is yes: most terminals can.
bool CanShowUnicode() {
  // In the order of setlocale(3): the first one that is set wins.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = Variable(name);
    if (!locale.empty()) return locale != "C" && locale != "POSIX";
  }
  return true;
}

// Width from $COLUMNS, for figures in a pipe or a file; 0 if it is unset, no number, or outside the bounds below.
int ColumnsVariable() {
  // A choice: narrower than 20 no figure fits, and more than 1000 is a slip.
  constexpr int kLeast = 20;
  constexpr int kMost = 1000;
  const std::string_view text = Variable("COLUMNS");
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && columns >= kLeast && columns <= kMost ? columns : 0;
}

vernier::cli::Terminal FindTerminal() {
  vernier::cli::Terminal terminal = {.is_terminal = isatty(STDOUT_FILENO) == 1,
                                     .no_color = !Variable("NO_COLOR").empty(),
                                     .unicode = CanShowUnicode()};
  winsize size = {};
  if (terminal.is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
    terminal.height = size.ws_row;
  } else if (const int columns = ColumnsVariable(); columns > 0) {
    terminal.width = columns;
  }
  return terminal;
}

}  // namespace

int main(int argc, char** argv) {
  // Nothing else writes to standard output; unsynchronised streams write long exports in large blocks.
  std::ios::sync_with_stdio(false);
  // Errors are reported in the words of Connection::Explain.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  // A server inside a command logs errors only; `server start` lowers the level.
  vernier::base::SetLogLevel(vernier::base::LogLevel::kError);
  const std::unique_ptr<vernier::Clock> clock = vernier::NewRealClock();
  std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  // A link named gcloud makes scripts that call gcloud work unchanged.
  const std::string_view name = argc > 0 ? argv[0] : "";
  if (name == "gcloud" || name.ends_with("/gcloud")) args.insert(args.begin(), "gcloud");
  return static_cast<int>(
      vernier::cli::RunProgram(args, FindTerminal(), *clock, std::cout, std::cerr));
}
