#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/gcloud_flags.h"
#include "src/cli/interrupts.h"
#include "src/cli/job_logs.h"
#include "src/cli/resources.h"
#include "src/cli/temporary_folder.h"
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

// As it would run as a job, with this host's own interpreter. It asks for nothing, so it never waits.
absl::StatusOr<StudySpec> MakeSpec(const TrainArgs& args, const GlobalFlags& flags) {
  StudySpec spec;
  spec.name = kStudy;
  spec.budget.trials = 1;
  spec.algorithm.name = "grid";
  TrainingJob& job = spec.job.emplace();
  job.python = PythonProgram{.module = args.module};
  job.args = flags.user_args;
  job.job_directory = args.job_dir;
  std::error_code error;
  const fs::path package =
      args.package_path.empty() ? fs::current_path(error) : fs::canonical(args.package_path, error);
  if (error) return NotFound("--package-path: '{}' is no folder", args.package_path);
  job.working_directory =
      args.package_path.empty() ? package.string() : package.parent_path().string();
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

// Streams it to its end. Whatever comes between, nothing of it runs any more when this returns.
absl::StatusOr<Study> Follow(Context& context, Connection& connection, Interrupts& interrupts) {
  const absl::StatusOr<Study> study =
      StreamJobLogs(context, connection, kStudy, {.plain = true, .live = true}, interrupts);
  if (study.ok()) return study;
  VERNIER_RETURN_IF_ERROR(StopStudy(connection, kStudy, "its output cannot be shown"));
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord left, GetStudy(connection, kStudy));
    if (IsFinished(left.study.state)) return study;
    interrupts.Wait(absl::Milliseconds(100));
  }
}

absl::StatusOr<ExitCode> Train(Context& context, const TrainArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, MakeSpec(args, context.flags()));
  WarnOfUnusedCounts(args, context.console().err);
  Interrupts interrupts(Interrupts::Heed::kAll);
  VERNIER_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create());
  app::ServerOptions options;
  options.store = folder.path() + "/store.db";
  options.listen = {fmt::format("unix:{}/socket", folder.path())};
  options.detect_gpus = false;
  if (args.start_port > 0) options.first_port = args.start_port;
  options.control_group = "none";  // Nothing is asked for, so there is nothing to hold it to.
  VERNIER_ASSIGN_OR_RETURN(Connection connection, Connection::OpenWithEngine(options));
  VERNIER_RETURN_IF_ERROR(CreateStudy(connection, spec).status());
  VERNIER_ASSIGN_OR_RETURN(const Study study, Follow(context, connection, interrupts));
  if (study.state == StudyState::kCompleted) return ExitCode::kOk;
  if (interrupts.count() > 0) return ExitCodeOfSignal(interrupts.signal_number());
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, kStudy, "1"));
  context.console().err << trial.trial.message << '\n';
  return ExitCode::kFailed;
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
  train->add_option("--package-path",
                    args->package_path,
                    "Folder of the package; the module runs in its parent (default: this folder)");
  train->add_option(
      "--job-dir", args->job_dir, "Output folder, passed to the program as --job-dir");
  train->add_flag("--distributed", args->distributed, "Start workers and parameter servers, too");
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
