// The arguments of `vernier run`; runner.cc does the work.

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/job_packages.h"
#include "src/cli/runner.h"
#include "src/cli/study_source.h"
#include "src/core/status.h"
#include "src/core/study_name.h"

namespace vernier::cli {
namespace {

struct RunArgs {
  std::string file;
  std::string name;
  std::string cluster;
  RunOptions options;
  CapacityFlags capacity;
};

// Whether the argument must be a study's name: it is a valid one, and no file is called so. A file wins over a study of
// its name.
bool NamesStudy(const std::string& argument) {
  std::error_code error;
  return IsStudyName(argument) && !std::filesystem::exists(argument, error);
}

absl::StatusOr<ExitCode> RunStored(Context& context, const RunArgs& args) {
  if (args.options.anew || !args.name.empty() || !args.cluster.empty()) {
    return InvalidArgument("{}: no such file; {} needs one",
                           args.file,
                           args.options.anew       ? "--new"
                           : !args.cluster.empty() ? "--cluster"
                                                   : "--name");
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, OpenToRun(context, args.capacity));
  const absl::StatusOr<StudyRecord> study = GetStudy(connection, args.file);
  if (absl::IsNotFound(study.status())) {
    return NotFound("{}: there is no such file, and no study of that name", args.file);
  }
  VERNIER_RETURN_IF_ERROR(study.status());
  RunOptions options = args.options;
  options.file = args.file;
  options.capacity = args.capacity;
  options.file_study = args.file;
  return RunStoredStudy(context, connection, *study, options);
}

absl::StatusOr<ExitCode> RunToEnd(Context& context, const RunArgs& args) {
  if (NamesStudy(args.file)) return RunStored(context, args);
  VERNIER_ASSIGN_OR_RETURN(StudySpec spec, LoadStudy(args.file, args.name));
  if (!args.cluster.empty() && spec.job.has_value()) spec.job->cluster = args.cluster;
  VERNIER_ASSIGN_OR_RETURN(Connection connection, OpenToRun(context, args.capacity));
  VERNIER_ASSIGN_OR_RETURN(const std::string sent, SendCode(connection, spec));
  if (!sent.empty()) context.output().Say(sent);
  RunOptions options = args.options;
  options.file = args.file;
  options.capacity = args.capacity;
  options.file_study = spec.name;
  return RunStudy(context, connection, std::move(spec), options);
}

}  // namespace

void AddRun(CLI::App& root, Action& chosen) {
  auto [command, args] = AddCommand<RunArgs>(
      root,
      "run",
      "Run a study to its end, on this machine or a cluster; no server is needed",
      &RunToEnd,
      chosen);
  command
      ->add_option(
          "FILE",
          args->file,
          "Study file in YAML or JSON; - reads standard input. Or the name of a stored study")
      ->required();
  command->add_option("--name", args->name, "Name of the study; overrides the name in the file");
  command
      ->add_option(
          "--cluster",
          args->cluster,
          "Cluster to run trials on: one of --config, or local; overrides the cluster in the file")
      ->option_text("NAME");
  auto* anew = command->add_flag(
      "--new", args->options.anew, "Start a new study under a free name if the name is taken");
  command
      ->add_flag(
          "--continue",
          args->options.go_on,
          "Continue the stored study, even if the file differs; failures so far no longer count")
      ->excludes(anew);
  command->add_flag("--plot", args->options.plot, "Plot the search at the end");
  AddDetailFlags(*command, args->options.detail);
  AddCapacityOptions(*command, args->capacity);
}

}  // namespace vernier::cli
