#pragma once

#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "src/app/server.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/live_view.h"
#include "src/cli/resources.h"
#include "vernier/core/study.h"

// Studies run from the command line: an engine in this process, or the server that owns the store.
namespace vernier::cli {

// Where trials run, and the resources of this host that they may use. Unset: this host, all of it.
struct CapacityFlags {
  std::string
      config;  // File of a server's configuration; its part about hosts holds here. Flags override it.
  double cpus = 0;
  std::string memory;
  std::vector<std::string> gpus;
  std::string fitting;
  std::string runs;
  std::string disk_reserve;
};
void AddCapacityOptions(CLI::App& command, CapacityFlags& flags);

// InvalidArgument: an option that cannot be parsed.  Other errors: as app::LoadConfiguration, app::ApplyHost and
// app::CheckRuntimes.
absl::StatusOr<app::ServerOptions> EngineOptionsOf(const std::string& store,
                                                   const CapacityFlags& flags);

// Connects to --server or the owner of the store, otherwise to an engine inside this process, with a socket beside the
// store so that commands in other terminals can connect. Such an engine starts no trial before RunStudy or
// RunStoredStudy resumes the study, so none runs under a definition that the user has just replaced.
absl::StatusOr<Connection> OpenToRun(const Context& context, const CapacityFlags& flags);

struct RunOptions {
  bool anew = false;  // Create a study under a free name, even if one of this name exists.
  // Continue the stored study even if the file differs by now, and forget its failures so far.
  bool go_on = false;
  bool plot = false;  // End with a figure of the search.
  DetailFlags detail;
  CapacityFlags capacity;  // For an engine that this process may have to start later.
  // For the hint on how to continue: the file that the user named, and the study's name in it.
  std::string file;
  std::string file_study;
};

// Creates the study, or updates and continues the one of that name; shows it until it ends, then prints a summary.
// Ctrl-C once: no new trials; twice: exits at once, without a summary.
// InvalidArgument: a study of that name exists, and the definition changes what cannot change.
absl::StatusOr<ExitCode> RunStudy(Context& context,
                                  Connection& connection,
                                  StudySpec spec,
                                  const RunOptions& options);
// The same for a stored study, as it is.
absl::StatusOr<ExitCode> RunStoredStudy(Context& context,
                                        Connection& connection,
                                        const StudyRecord& study,
                                        const RunOptions& options);

}  // namespace vernier::cli
