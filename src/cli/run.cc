#include <string>
#include <utility>

#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/runner.h"
#include "src/cli/study_source.h"

namespace vernier::cli {
namespace {

struct RunArgs {
  std::string file;
  std::string name;
  RunOptions options;
  CapacityFlags capacity;
};

absl::StatusOr<ExitCode> Run(Context& context, const RunArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(StudySpec spec, LoadStudy(args.file, args.name));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, OpenToRun(context, args.capacity));
  RunOptions options = args.options;
  options.file = args.file;
  options.file_study = spec.name;
  return RunStudy(context, connection, std::move(spec), options);
}

}  // namespace

void AddRun(CLI::App& root, Action& chosen) {
  auto [command, args] =
      AddCommand<RunArgs>(root,
                          "run",
                          "Run the study of a file to its end, here and now, without a daemon",
                          &Run,
                          chosen);
  command->add_option("FILE", args->file, "Study file, YAML or JSON; - for standard input")
      ->required();
  command->add_option("--name", args->name, "Another name than the file's");
  auto* anew = command->add_flag(
      "--new", args->options.anew, "Start anew under a free name if the study exists");
  command
      ->add_flag(
          "--continue", args->options.go_on, "Go on with the stored study, whatever the file says")
      ->excludes(anew);
  command->add_flag("--plot", args->options.plot, "End with a picture of the search");
  AddCapacityOptions(*command, args->capacity);
}

}  // namespace vernier::cli
