// `local train` as `gcloud ai-platform local train` runs it: once, in the foreground, without retries, with the output
// unchanged and the exit status of the primary. The engine and launcher are the real ones, on a server in a temporary
// folder, so TF_CONFIG is the same as in a submitted job. Whatever ends the command, its processes are stopped first:
// their supervisors would outlive it (docs/adr/0005-a-supervisor-for-each-replica.md).

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>

#include "fmt/format.h"
#include "src/base/temporary_folder.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/gcloud_flags.h"
#include "src/cli/interrupts.h"
#include "src/cli/job_logs.h"
#include "src/cli/resources.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kStudy[] = "local_train";

struct TrainArgs {
  std::string module;
  std::string package_path;
  std::string job_dir;
  bool distributed = false;
  std::optional<int> workers;
  std::optional<int> parameter_servers;
  std::optional<int> evaluators;
  int start_port = 0;
  GcloudFlags gcloud;
};

// Whether the folder contains the module's package, or the module itself.
bool Has(const fs::path& folder, const std::string& module) {
  std::error_code error;
  const std::string top = module.substr(0, module.find('.'));
  return fs::is_directory(folder / top, error) || fs::exists(folder / (top + ".py"), error);
}

// The folder to run in. As with gcloud: the parent of the package, where the package is the current folder by default.
// If only the current folder has the module, it runs there.
absl::StatusOr<std::string> FolderToRunIn(const TrainArgs& args) {
  std::error_code error;
  const std::string given = args.package_path.empty() ? "." : args.package_path;
  fs::path package = fs::absolute(given, error).lexically_normal();  // Symbolic links are kept.
  if (error || !fs::is_directory(package, error)) {
    return NotFound("--package-path: '{}' is no folder", given);
  }
  if (!package.has_filename()) package = package.parent_path();  // A trailing slash.
  const fs::path parent = package.parent_path();
  const bool is_here = args.package_path.empty() && !Has(parent, args.module);
  return is_here && Has(package, args.module) ? package.string() : parent.string();
}

// Warns if both folders have the module, since the rule of gcloud may surprise.
void WarnOfOtherModule(const TrainArgs& args, const std::string& folder, std::ostream& err) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error || !args.package_path.empty() || here == fs::path(folder)) return;
  const std::string top = args.module.substr(0, args.module.find('.'));
  if (!Has(here, args.module)) return;
  err << fmt::format(
      "vernier: warning: '{0}' of '{1}' runs, as with gcloud, not that of the current folder; "
      "--package-path {0} runs the latter\n",
      top,
      folder);
}

// The module as a job on this host, with this host's interpreter and without restarts. It asks for no resources, so it
// never waits for any.
absl::StatusOr<StudySpec> MakeTrainingSpec(const TrainArgs& args, const GlobalFlags& flags) {
  StudySpec spec;
  spec.name = kStudy;
  spec.budget.trials = 1;
  spec.algorithm.name = "grid";
  TrainingJob& job = spec.job.emplace();
  job.python = PythonProgram{.module = args.module};
  job.args = flags.user_args;
  job.job_directory = args.job_dir;
  job.restarts = {.replica = 0, .job = 0, .internal = 0};
  VERNIER_ASSIGN_OR_RETURN(job.working_directory, FolderToRunIn(args));
  const auto add = [&](Role role, int count) {
    if (count > 0) job.replicas[role].count = count;
  };
  if (args.distributed) {
    add(Role::kWorker, args.workers.value_or(2));
    add(Role::kParameterServer, args.parameter_servers.value_or(2));
    add(Role::kEvaluator, args.evaluators.value_or(0));
  }
  return spec;
}

void WarnOfUnusedCounts(const TrainArgs& args, std::ostream& err) {
  if (args.distributed) return;
  const auto warn = [&](const char* flag, const std::optional<int>& count) {
    if (count) err << fmt::format("vernier: warning: {} is ignored without --distributed\n", flag);
  };
  warn("--worker-count", args.workers);
  warn("--parameter-server-count", args.parameter_servers);
  warn("--evaluator-count", args.evaluators);
}

// Streams the output to the end. Also after an error the job has ended when this returns.
absl::StatusOr<Study> FollowJob(Context& context, Connection& connection, Interrupts& interrupts) {
  absl::StatusOr<Study> study =
      StreamJobLogs(context, connection, kStudy, {.plain = true, .live = true}, interrupts);
  if (study.ok()) return study;
  VERNIER_RETURN_IF_ERROR(StopStudy(connection, kStudy, "its output cannot be shown"));
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord left, GetStudy(connection, kStudy));
    if (IsFinished(left.study.state)) return study;
    interrupts.Wait(absl::Milliseconds(100));
  }
}

// The primary's exit status by the convention of shells: 128 + the signal after a signal.
ExitCode StatusOfPrimary(const Trial& trial) {
  if (trial.attempts.empty() || trial.attempts.back().replicas.empty()) return ExitCode::kFailed;
  const ReplicaResult& primary = trial.attempts.back().replicas.front();
  if (primary.signal) return ExitCodeOfSignal(*primary.signal);
  return static_cast<ExitCode>(primary.exit_code.value_or(static_cast<int>(ExitCode::kFailed)));
}

absl::StatusOr<ExitCode> Train(Context& context, const TrainArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, MakeTrainingSpec(args, context.flags()));
  WarnOfUnusedCounts(args, context.console().err);
  WarnOfOtherModule(args, spec.job->working_directory, context.console().err);
  Interrupts interrupts(Interrupts::Heed::kAll);
  VERNIER_ASSIGN_OR_RETURN(const base::TemporaryFolder folder, base::TemporaryFolder::Create());
  app::ServerOptions options;
  options.store = folder.path() + "/store.db";
  options.listen = {fmt::format("unix:{}/socket", folder.path())};
  options.detect_gpus = false;
  options.unmanaged = true;
  if (args.start_port > 0) options.first_port = args.start_port;
  options.control_group = "none";  // Without requested resources there are no limits to enforce.
  VERNIER_ASSIGN_OR_RETURN(Connection connection, Connection::OpenWithEngine(options));
  VERNIER_RETURN_IF_ERROR(CreateStudy(connection, spec).status());
  VERNIER_ASSIGN_OR_RETURN(const Study study, FollowJob(context, connection, interrupts));
  if (study.state == StudyState::kCompleted) return ExitCode::kOk;
  if (interrupts.count() > 0) return ExitCodeOfSignal(interrupts.signal_number());
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, kStudy, "1"));
  context.console().err << trial.trial.message << '\n';
  return StatusOfPrimary(trial.trial);
}

}  // namespace

void AddLocalCommands(CLI::App& root, Action& chosen) {
  CLI::App* local = root.add_subcommand("local", "Run a training program without a server");
  local->require_subcommand(1);
  auto [train, args] = AddCommand<TrainArgs>(
      *local,
      "train",
      "Run a Python module as a training job would; its arguments follow after --",
      &Train,
      chosen);
  train->add_option("--module-name", args->module, "Python module to run, e.g. trainer.task")
      ->required();
  train->add_option(
      "--package-path",
      args->package_path,
      "Folder of the package; the module runs in its parent (default: the current folder; if its "
      "parent does not have the module, it runs in the current folder)");
  train->add_option(
      "--job-dir", args->job_dir, "Output folder, passed to the program as --job-dir");
  train->add_flag("--distributed", args->distributed, "Also start workers and parameter servers");
  train
      ->add_option(
          "--worker-count", args->workers, "Number of workers besides the chief (default: 2)")
      ->check(AtLeast(0));
  train
      ->add_option("--parameter-server-count",
                   args->parameter_servers,
                   "Number of parameter servers (default: 2)")
      ->check(AtLeast(0));
  train->add_option("--evaluator-count", args->evaluators, "Number of evaluators (default: 0)")
      ->check(AtLeast(0));
  train
      ->add_option(
          "--start-port", args->start_port, "First port to listen on (default: free ports)")
      ->check(Port());
  AddGcloudFlags(*train, args->gcloud);
}

}  // namespace vernier::cli
