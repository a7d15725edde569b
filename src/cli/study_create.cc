#include <string>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/hint.h"
#include "src/cli/live_view.h"
#include "src/cli/resources.h"
#include "src/cli/room_hint.h"
#include "src/cli/study_source.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/proto_json.h"
#include "src/wire/study_proto.h"

namespace vernier::cli {
namespace {

struct ValidateArgs {
  std::string file;
};

struct CreateArgs {
  std::string file;
  std::string name;
  bool watch = false;
  bool dry_run = false;
};

absl::StatusOr<ExitCode> Validate(Context& context, const ValidateArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, LoadStudy(args.file));
  // The whole check is the server's: algorithms, stopping rules, jobs. A server of nothing will do, unless the file
  // speaks of earlier studies.
  VERNIER_ASSIGN_OR_RETURN(
      Connection connection,
      context.flags().server.empty() && spec.warm_start.empty()
          ? Connection::OpenWithEngine({.store = ":memory:", .run_engine = false})
          : context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const v1::Study study, CreateStudy(connection, spec, true));
  const auto cardinality = spec.space.Cardinality();
  context.output().Item(fmt::format("{}: study '{}' is valid: {} parameters, {}\n",
                                    args.file,
                                    spec.name,
                                    spec.space.parameters().size(),
                                    cardinality ? fmt::format("{} points at most", *cardinality)
                                                : std::string("infinitely many points")),
                        ProtoToJson(study));
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Create(Context& context, const CreateArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, LoadStudy(args.file, args.name));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const v1::Study study, CreateStudy(connection, spec, args.dry_run));
  if (args.dry_run) {
    context.output().Item(
        fmt::format("study '{}' could be created; nothing was stored\n", spec.name),
        ProtoToJson(study));
    return ExitCode::kOk;
  }
  VERNIER_ASSIGN_OR_RETURN(const Study created, wire::DecodeStudy(study));
  const std::string room = RoomHint(connection, created.spec);
  if (args.watch) {
    if (!room.empty()) context.output().Say(room);
    return WatchStudy(context, connection, spec.name, EventSeq(0));
  }
  std::string text = fmt::format("study '{}' created\n", spec.name);
  if (!room.empty()) text += room + "\n";
  if (connection.is_embedded() && spec.job) {
    text += fmt::format(
        "nothing runs its trials yet: `vernier run {}` does, or `vernier server start`\n",
        args.file);
  }
  context.output().Item(text, ProtoToJson(study));
  return ExitCode::kOk;
}

}  // namespace

void AddStudyCreate(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<CreateArgs>(
      study, "create", "Create the study that a file defines", &Create, chosen);
  command->add_option("FILE", args->file, "Study file, YAML or JSON; - for standard input")
      ->required();
  command->add_option("--name", args->name, "Another name than the file's");
  command->add_flag("--watch", args->watch, "Follow it until it ends");
  command->add_flag("--dry-run", args->dry_run, "Check everything, store nothing");
}

void AddStudyValidate(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<ValidateArgs>(
      study, "validate", "Check a study file and store nothing", &Validate, chosen);
  command->add_option("FILE", args->file, "Study file, YAML or JSON; - for standard input")
      ->required();
}

}  // namespace vernier::cli
