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

// Whether the locale can show block characters. One that is not set says nothing: most terminals can.
bool CanShowUnicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = Variable(name);
    if (!locale.empty()) return locale != "C" && locale != "POSIX";
  }
  return true;
}

// $COLUMNS, for figures in a pipe or a file; 0 if it says no width that anything fits into.
int ColumnsVariable() {
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
  std::ios::sync_with_stdio(false);
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // What goes wrong is said in our words.
  // A server inside a command speaks only of what goes wrong; `server start` says more.
  vernier::base::SetLogLevel(vernier::base::LogLevel::kError);
  const std::unique_ptr<vernier::Clock> clock = vernier::NewRealClock();
  std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  // Called by that name, the program is the `gcloud` of scripts.
  const std::string_view name = argc > 0 ? argv[0] : "";
  if (name == "gcloud" || name.ends_with("/gcloud")) args.insert(args.begin(), "gcloud");
  return static_cast<int>(
      vernier::cli::RunProgram(args, FindTerminal(), *clock, std::cout, std::cerr));
}
