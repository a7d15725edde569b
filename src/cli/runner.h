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

// What of this host trials may use. Unset: what it has.
struct CapacityFlags {
  double cpus = 0;
  std::string memory;
  std::vector<std::string> gpus;
  std::string fitting = "strict";
  std::string runs;
  std::string disk_reserve;
};
void AddCapacityOptions(CLI::App& command, CapacityFlags& flags);

// InvalidArgument: an option that cannot be read.
absl::StatusOr<app::ServerOptions> EngineOptionsOf(const std::string& store,
                                                   const CapacityFlags& flags);

// To whoever owns the store or was named with --server; else to an engine inside this process, with a socket beside the
// store so that other terminals can look on. Such an engine begins with RunStudy or RunStoredStudy, once the study is as it should
// be: no trial starts under a definition that the user has just replaced.
absl::StatusOr<Connection> OpenToRun(const Context& context, const CapacityFlags& flags);

struct RunOptions {
  bool anew = false;  // Under a free name, whatever there is.
  // With what the store has, even if the file differs by now; failures so far do not keep it from going on.
  bool go_on = false;
  bool plot = false;  // End with a picture of the search.
  DetailFlags detail;
  CapacityFlags capacity;  // If this process has to open the store anew.
  // For the hint how to go on: the file that the user named, and the name that the file gives its study.
  std::string file;
  std::string file_study;
};

// Creates the study, or gives the one of that name the definition and goes on with it; shows it until it ends, then sums
// up. Ctrl-C once: no new trials; twice: leaves at once, without summing up.
// InvalidArgument: the store has a study of that name, and the definition changes what cannot change.
absl::StatusOr<ExitCode> RunStudy(Context& context,
                                  Connection& connection,
                                  StudySpec spec,
                                  const RunOptions& options);
// The same with a study as it is stored.
absl::StatusOr<ExitCode> RunStoredStudy(Context& context,
                                        Connection& connection,
                                        const StudyRecord& study,
                                        const RunOptions& options);

}  // namespace vernier::cli
