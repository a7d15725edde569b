#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/exit_code.h"
#include "src/cli/terminal/output.h"
#include "vernier/core/clock.h"

namespace vernier::cli {

// Options that every command takes.
struct GlobalFlags {
  std::string store;
  std::string server;
  std::string output = "table";
  bool no_headers = false;
  std::string color = "auto";
  // Words after "--", for commands that pass them to a program.
  std::vector<std::string> user_args;
};

// What a command needs: console, flags, connection, clock.
class Context {
 public:
  Context(Console& console, const GlobalFlags& flags, const Clock& clock);

  Output& output() { return output_; }
  Console& console() { return output_.console(); }
  const GlobalFlags& flags() const { return flags_; }
  absl::Time Now() const { return clock_.Now(); }
  absl::TimeZone zone() const { return zone_; }

  // The path of the store: --store, $VERNIER_STORE, or the user's own.
  std::string Store() const;
  // The flags that make another command use the same store, for commands that hints suggest: " --store FILE" or
  // nothing.
  std::string SameStoreFlags() const;
  // Connects as the flags say; see connection.h.
  absl::StatusOr<Connection> Connect(MissingStore missing = MissingStore::kRefuse) const;

 private:
  GlobalFlags flags_;
  Output output_;
  const Clock& clock_;
  absl::TimeZone zone_ = absl::LocalTimeZone();
};

// A parsed command, ready to run.
using Action = std::function<absl::StatusOr<ExitCode>(Context&)>;

}  // namespace vernier::cli
