#include "src/cli/context.h"

#include "src/app/paths.h"
#include "src/jobs/reproduction.h"

namespace vernier::cli {

Context::Context(Console& console, const GlobalFlags& flags, const Clock& clock)
    : flags_(flags),
      output_(console,
              {.format = ParseFormat(flags.output).value_or(Format::kTable),
               .headers = !flags.no_headers}),
      clock_(clock) {}

std::string Context::Store() const {
  return flags_.store.empty() ? app::DefaultStorePath() : flags_.store;
}

std::string Context::SameStoreFlags() const {
  std::string flags;
  // Only what was given as a flag: the environment holds for the next command as well.
  if (!flags_.store.empty()) flags += " --store " + jobs::ShellQuote(flags_.store);
  if (!flags_.server.empty()) flags += " --server " + jobs::ShellQuote(flags_.server);
  return flags;
}

absl::StatusOr<Connection> Context::Connect(MissingStore missing) const {
  return Connection::Open({.server = flags_.server, .store = Store(), .missing = missing});
}

}  // namespace vernier::cli
