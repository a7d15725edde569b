// `study create` and `study validate`. Validation is the server's, by CreateStudy with validate_only, so that a file
// that passes can be created. A server in memory inside this process answers as any other would; the checks of this
// host (ValidateHere) need one with an engine, which knows the host's resources and images.

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/app/job_directory.h"
#include "src/base/temporary_folder.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/check.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/job_packages.h"
#include "src/cli/live_view.h"
#include "src/cli/resources.h"
#include "src/cli/room_hint.h"
#include "src/cli/study_source.h"
#include "src/cli/study_text.h"
#include "src/cli/study_update.h"
#include "src/cli/study_warnings.h"
#include "src/cli/terminal/proto_json.h"
#include "src/wire/study_proto.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

struct ValidateArgs {
  CheckArgs check;        // Also holds the file.
  bool is_tried = false;  // Also start a trial.
  bool anywhere = false;  // Skip the checks of this host.
};

struct CreateArgs {
  std::string file;
  std::string name;
  bool watch = false;
  bool dry_run = false;
  bool update = false;
};

// Uploads the study's code, if any, and says so.
absl::Status SayCode(Context& context, Connection& connection, StudySpec& spec) {
  VERNIER_ASSIGN_OR_RETURN(const std::string sent, SendCode(connection, spec));
  if (!sent.empty()) context.output().Say(sent);
  return absl::OkStatus();
}

// Whether the study could run on this host, as `vernier run` would find out. Stores nothing. Returns a hint, or an
// empty text.
absl::StatusOr<std::string> ValidateHere(Context& context,
                                         StudySpec spec,
                                         app::ServerOptions options) {
  const std::string folder_of_store = std::filesystem::path(context.Store()).parent_path().string();
  const absl::Status writable = app::CheckWritable(folder_of_store.empty() ? "." : folder_of_store);
  if (!writable.ok()) {
    return WithHint(FieldError("store", std::string(writable.message())),
                    "choose another place with --store or $VERNIER_STORE");
  }
  VERNIER_ASSIGN_OR_RETURN(const base::TemporaryFolder folder, base::TemporaryFolder::Create());
  options.runs_directory = folder.path();
  options.control_group = "none";  // No trial will run.
  VERNIER_ASSIGN_OR_RETURN(Connection connection, Connection::OpenWithEngine(options));
  VERNIER_RETURN_IF_ERROR(SendCode(connection, spec).status());
  std::error_code error;
  TrainingJob& job = *spec.job;
  if (job.input.has_value()) job.job_directory = std::exchange(job.input->job_dir, "");
  VERNIER_RETURN_IF_ERROR(app::CheckJobDirectory(
      job, std::filesystem::current_path(error).string(), /*only_look=*/true));
  job.job_directory.clear();  // A server would create it.
  spec.warm_start.clear();    // Earlier studies are in the user's store, not in this one.
  absl::StatusOr<v1::Study> study = CreateStudy(connection, spec, /*validate_only=*/true);
  if (study.ok()) {
    VERNIER_ASSIGN_OR_RETURN(const Study resolved, wire::DecodeStudy(*study));
    return GpuHint(connection, resolved.spec);
  }
  return WithHint(study.status(),
                  "this holds for this host; --anywhere checks the definition alone, "
                  "--server ADDRESS asks a server");
}

absl::StatusOr<ExitCode> Validate(Context& context, const ValidateArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, LoadStudy(args.check.file));
  // The server makes all checks: algorithms, stopping rules, jobs. One with an empty store will do, unless the file
  // names earlier studies.
  const bool is_local = context.flags().server.empty();
  app::ServerOptions here;  // What runs trials here.
  if (is_local) {
    VERNIER_ASSIGN_OR_RETURN(here, EngineOptionsOf(":memory:", args.check.capacity));
  }
  app::ServerOptions without_engine = here;
  without_engine.run_engine = false;
  VERNIER_ASSIGN_OR_RETURN(Connection connection,
                           is_local && spec.warm_start.empty()
                               ? Connection::OpenWithEngine(without_engine)
                               : context.Connect(MissingStore::kDoWithout));
  StudySpec sent = spec;
  // Which clusters there are is the server's matter.
  if (is_local && args.anywhere && sent.job.has_value()) sent.job->cluster.clear();
  VERNIER_RETURN_IF_ERROR(SendCode(connection, sent).status());
  VERNIER_ASSIGN_OR_RETURN(v1::Study study, CreateStudy(connection, sent, true));
  std::string gpu_hint;
  if (is_local && !args.anywhere && spec.job.has_value()) {
    VERNIER_ASSIGN_OR_RETURN(gpu_hint, ValidateHere(context, spec, here));
  } else if (!is_local) {
    VERNIER_ASSIGN_OR_RETURN(const Study resolved, wire::DecodeStudy(study));
    gpu_hint = GpuHint(connection, resolved.spec);
  }
  const auto cardinality = spec.space.Cardinality();
  const std::string text = fmt::format(
      "{}: study '{}' is valid: {}, {}",
      args.check.file,
      spec.name,
      spec.space.parameters().size() == 1
          ? std::string("1 parameter")
          : fmt::format("{} parameters", spec.space.parameters().size()),
      cardinality ? fmt::format("{} point{} at most", *cardinality, *cardinality == 1 ? "" : "s")
                  : std::string("infinitely many points"));
  if (args.is_tried) {  // The trial's result will be the document.
    context.output().Say(text);
  } else {
    context.output().Item(text + "\n", ProtoToJson(study));
  }
  PrintWarnings(context, spec);
  if (!gpu_hint.empty()) PrintWarning(context, gpu_hint);
  return args.is_tried ? CheckStudy(context, args.check) : ExitCode::kOk;
}

// Updates a stored study to the definition of the file.
absl::StatusOr<ExitCode> UpdateExisting(Context& context,
                                        Connection& connection,
                                        const StudyRecord& before,
                                        const StudySpec& spec,
                                        const CreateArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const StudyUpdate update,
                           UpdateStudy(connection, before, spec, args.dry_run));
  std::string text = DescribeUpdate(update);
  if (update.changes.empty()) text = fmt::format("study '{}' did not change\n", spec.name) + text;
  if (IsFinished(update.study.state)) {
    const std::string fix = fmt::format("`vernier study amend {} --fixed`", spec.name);
    text += DescribeEnd(update.study, args.file, fix) + "\n";
  } else {
    text += fmt::format("study '{}' is {}: {}\n",
                        spec.name,
                        StudyStateName(update.study.state),
                        DescribeBudget(update.study));
  }
  if (args.dry_run) text += "nothing was stored\n";
  if (args.watch && !args.dry_run) {
    context.output().Say(text.substr(0, text.size() - 1));
    return WatchStudy(context, connection, spec.name, before.study.last_event);
  }
  if (!args.dry_run) text += NobodyRuns(context, connection, update.study);
  context.output().Item(text, ProtoToJson(update.message));
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Create(Context& context, const CreateArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(StudySpec spec, LoadStudy(args.file, args.name));
  VERNIER_ASSIGN_OR_RETURN(
      Connection connection,
      context.Connect(args.dry_run ? MissingStore::kDoWithout : MissingStore::kCreate));
  const StudySpec given = spec;  // With the code as a folder, for warnings.
  VERNIER_RETURN_IF_ERROR(SayCode(context, connection, spec));
  if (args.update) {
    const absl::StatusOr<StudyRecord> before = GetStudy(connection, spec.name);
    if (before.ok()) return UpdateExisting(context, connection, *before, spec, args);
    if (!absl::IsNotFound(before.status())) return before.status();
  }
  const std::string used_folder =
      context.flags().server.empty() ? UsedFolderWarning(given) : std::string();
  VERNIER_ASSIGN_OR_RETURN(const v1::Study study, CreateStudy(connection, spec, args.dry_run));
  if (args.dry_run) {
    context.output().Item(
        fmt::format("study '{}' could be created; nothing was stored\n", spec.name),
        ProtoToJson(study));
    return ExitCode::kOk;
  }
  PrintWarnings(context, given);
  if (!used_folder.empty()) PrintWarning(context, used_folder);
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
        args.file == "-" || !args.name.empty() ? spec.name : args.file);
  }
  context.output().Item(text, ProtoToJson(study));
  return ExitCode::kOk;
}

}  // namespace

void AddStudyCreate(CLI::App& study, Action& chosen) {
  auto [command, args] =
      AddCommand<CreateArgs>(study, "create", "Create a study from a study file", &Create, chosen);
  command->add_option("FILE", args->file, "Study file in YAML or JSON; - reads standard input")
      ->required();
  command->add_option("--name", args->name, "Name of the study; overrides the name in the file");
  command->add_flag("--watch", args->watch, "Follow the study until it ends");
  command->add_flag("--dry-run", args->dry_run, "Check the file and store nothing");
  command->add_flag(
      "--update", args->update, "If the study exists, give it the definition of the file");
}

void AddStudyValidate(CLI::App& study, Action& chosen) {
  auto [command, args] =
      AddCommand<ValidateArgs>(study,
                               "validate",
                               "Check a study file, and whether it can run here; store nothing",
                               &Validate,
                               chosen);
  command->add_option("FILE", args->check.file, "Study file, YAML or JSON; - for standard input")
      ->required();
  command->add_flag("--anywhere", args->anywhere, "Check the definition alone, not this host");
  command->add_flag("--try", args->is_tried, "Also start one trial, as `vernier check` does");
  AddCheckOptions(*command, args->check);
}

}  // namespace vernier::cli
