#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/base/temporary_folder.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/gcloud_flags.h"
#include "src/cli/hint.h"
#include "src/cli/interrupts.h"
#include "src/cli/job_description.h"
#include "src/cli/job_flags.h"
#include "src/cli/job_list.h"
#include "src/cli/job_logs.h"
#include "src/cli/job_packages.h"
#include "src/cli/job_reference.h"
#include "src/cli/label_flags.h"
#include "src/cli/replica_choice.h"
#include "src/cli/resources.h"
#include "src/cli/study_source.h"
#include "src/cli/terminal/figures.h"
#include "src/codec/document.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/jobs/resolution.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"
#include "vernier/core/error.h"

// Training jobs with the commands, flags and answers of `gcloud ai-platform jobs`. A job is a study with a training
// job; its name is that of the study, with the project in front if there is one (src/jobs).
namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Stub = Connection::Stub;

struct SubmitArgs {
  std::string id;
  JobFlags job;
  GcloudFlags gcloud;
  std::string staging_bucket;
  bool stream_logs = false;
  bool async = false;
};

absl::StatusOr<Json> ReadConfig(const std::string& path) {
  if (path.empty()) return Json::object();
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadInput(path, "configuration of a job"));
  absl::StatusOr<Json> config = codec::ReadDocument(text, path);
  // An error that names the file already is passed on.
  if (config.ok() || GetField(config.status()) == path) return config;
  // The parser's message names the line, but not the file.
  return InvalidArgument("{}: {}", path, std::string(config.status().message()));
}

// Packages to upload: those of the flags, otherwise those that the configuration names.
absl::StatusOr<std::vector<std::string>> PackagesOf(const JobFlags& flags,
                                                    const Json& input,
                                                    const std::string& folder) {
  std::vector<std::string> packages;
  if (!flags.package_path.empty()) {
    VERNIER_ASSIGN_OR_RETURN(packages.emplace_back(), BuildPackage(flags.package_path, folder));
  }
  packages.insert(packages.end(), flags.packages.begin(), flags.packages.end());
  if (!packages.empty() || !input.contains("packageUris")) return packages;
  for (const Json& uri : input["packageUris"]) {
    if (uri.is_string()) packages.push_back(uri.get<std::string>());
  }
  return packages;
}

// Makes a job directory that is a path absolute: the user means this host's, and the server has another working
// directory (docs/adr/0032-a-folder-for-each-replica.md).
absl::Status MakeAbsolute(Json& input) {
  const auto given = input.find("jobDir");
  // What is no text is refused when the file is read.
  if (given == input.end() || !given->is_string()) return absl::OkStatus();
  const auto& path = given->get_ref<const std::string&>();
  if (path.empty() || path.find("://") != std::string::npos) return absl::OkStatus();
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return Unavailable("--job-dir: '{}': {}", path, error.message());
  *given = absolute.lexically_normal().string();
  return absl::OkStatus();
}

absl::StatusOr<StudySpec> MakeJobSpec(Connection& connection, Context& context, SubmitArgs args) {
  args.job.args = context.flags().user_args;
  args.job.project = args.gcloud.project;
  VERNIER_ASSIGN_OR_RETURN(Json config, ReadConfig(args.job.config));
  VERNIER_ASSIGN_OR_RETURN(Json job, ApplyJobFlags(args.id, std::move(config), args.job));
  Json& input = job["trainingInput"];
  // Checked before anything is uploaded.
  VERNIER_RETURN_IF_ERROR(codec::StudySpecFromJson(job).status());
  VERNIER_ASSIGN_OR_RETURN(const base::TemporaryFolder folder, base::TemporaryFolder::Create());
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> packages,
                           PackagesOf(args.job, input, folder.path()));
  if (!packages.empty()) {
    VERNIER_ASSIGN_OR_RETURN(input["packageUris"], UploadPackages(connection, packages));
  }
  VERNIER_RETURN_IF_ERROR(MakeAbsolute(input));
  return codec::StudySpecFromJson(job);
}

// The wait of the first waiting trial; nothing if another trial runs.
std::optional<JobWait> FindWait(Connection& connection, const std::vector<TrialRecord>& trials) {
  // While another trial of the job runs, the job does not wait as a whole.
  const bool waits = !trials.empty() && std::ranges::all_of(trials, [](const TrialRecord& trial) {
    return trial.trial.state == TrialState::kQueued || IsFinished(trial.trial.state);
  });
  const auto first = std::ranges::find(
      trials, TrialState::kQueued, [](const TrialRecord& trial) { return trial.trial.state; });
  if (!waits || first == trials.end()) return std::nullopt;
  v1::ListQueueRequest request;
  request.set_trial(first->message.name());
  const auto response = connection.Call(&Connection::ClusterStub::ListQueue, request);
  // The wait is extra information, and its absence no error.
  if (!response.ok() || response->trials().empty()) return std::nullopt;
  const v1::QueuedTrial& queued = response->trials(0);
  return JobWait{.position = queued.position(), .reason = queued.reason()};
}

absl::StatusOr<Json> LookAt(Connection& connection, const std::string& id) {
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, id));
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  return JobToJson(study, trials, FindWait(connection, trials));
}

void PrintJob(Context& context, const AnswerFormat& format, const Json& job) {
  if (PrintAnswer(format, job, context)) return;
  context.output().Item(codec::JsonToYaml(job), job);
}

absl::Status ExplainTaken(const JobReference& job, absl::Status status) {
  if (GetReason(status) != Reason::kStudyExists) return status;
  return WithHint(
      std::move(status),
      fmt::format("choose another JOB, or look at that one with `vernier jobs describe {}`",
                  job.Words()));
}

// The part of a job that is printed after its submission and its end.
Json Brief(const Json& job) {
  Json brief = Json::object();
  for (const char* key : {"jobId", "state", "startTime", "endTime", "errorMessage"}) {
    if (job.contains(key)) brief[key] = job[key];
  }
  return brief;
}

absl::StatusOr<ExitCode> StreamToTheEnd(Context& context,
                                        Connection& connection,
                                        const JobReference& reference,
                                        const AnswerFormat& format) {
  // From here on, Ctrl-C ends the streaming, and the command tells what goes on.
  Interrupts interrupts;
  const std::string& study = reference.study;
  VERNIER_RETURN_IF_ERROR(StreamJobLogs(context, connection, study, {}, interrupts).status());
  VERNIER_ASSIGN_OR_RETURN(const Json job, LookAt(connection, study));
  PrintJob(context, format, Brief(job));
  // As gcloud documents it: any other state at the end is a failure of the command.
  if (job["state"] == "SUCCEEDED") return ExitCode::kOk;
  // The user left before the job's end.
  if (interrupts.count() == 0) return ExitCode::kFailed;
  context.console().err << fmt::format("leaving; the server goes on with job '{}'\n",
                                       reference.name.job);
  return ExitCode::kInterrupted;
}

absl::StatusOr<ExitCode> Submit(Context& context, const SubmitArgs& args) {
  if (args.async && args.stream_logs) {
    return InvalidArgument("--async: cannot go with --stream-logs");
  }
  VERNIER_ASSIGN_OR_RETURN(const AnswerFormat format, ReadAnswerFormat(args.gcloud));
  VERNIER_ASSIGN_OR_RETURN(const JobReference job, ReadJob(args.id, args.gcloud));
  SubmitArgs own = args;
  own.id = job.name.job;
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect(MissingStore::kCreate));
  VERNIER_ASSIGN_OR_RETURN(StudySpec spec, MakeJobSpec(connection, context, own));
  VERNIER_RETURN_IF_ERROR(PutInProject(job, spec));
  VERNIER_RETURN_IF_ERROR(ExplainTaken(job, CreateStudy(connection, spec).status()));

  std::ostream& err = context.console().err;
  err << fmt::format("Job [{}] submitted successfully.\n", job.name.job);
  // They were read and stored, and change nothing here.
  const std::vector<std::string> idle = jobs::FieldsWithoutEffect(*spec.job->input);
  if (!idle.empty()) err << fmt::format("Without effect here: {}.\n", fmt::join(idle, ", "));
  // Unlike the service, a store alone runs nothing.
  if (connection.is_embedded()) err << "Nothing runs it yet: `vernier server start` does.\n";
  err << fmt::format("  vernier jobs describe {0}\n  vernier jobs stream-logs {0}\n", job.Words());
  if (!args.stream_logs) {
    VERNIER_ASSIGN_OR_RETURN(const Json answer, LookAt(connection, spec.name));
    PrintJob(context, format, Brief(answer));
    return ExitCode::kOk;
  }
  return StreamToTheEnd(context, connection, job, format);
}

struct DescribeArgs {
  std::string id;
  bool summarize = false;
  GcloudFlags gcloud;
};

absl::StatusOr<ExitCode> ShowJob(Context& context, const DescribeArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const AnswerFormat format, ReadAnswerFormat(args.gcloud));
  VERNIER_ASSIGN_OR_RETURN(const JobReference reference, ReadJob(args.id, args.gcloud));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  const absl::StatusOr<Json> job = LookAt(connection, reference.study);
  if (!job.ok()) return ExplainMissing(reference, job.status());
  if (!args.summarize) {
    PrintJob(context, format, *job);
  } else if (!PrintAnswer(format, *job, context)) {
    const Console& console = context.console();
    const TableOptions options = {.width = console.width, .color = console.color};
    context.output().Item(SummarizeJob(*job, options), *job);
  }
  return ExitCode::kOk;
}

struct ListJobsArgs {
  JobQuery query;
  bool uri = false;
  GcloudFlags gcloud;
};

constexpr char kListColumns[] =
    "table(jobId, state:label=STATUS, createTime.date(tz=LOCAL):label=CREATED)";

// In the style of Vernier's tables, with times in the local zone. --format gives gcloud's own.
absl::StatusOr<Table> JobTable(const std::vector<Json>& jobs, absl::TimeZone zone) {
  Table table({{.name = "JOB_ID", .flexible = true}, {.name = "STATUS"}, {.name = "CREATED"}});
  for (const Json& job : jobs) {
    absl::Time created;
    const std::string text = PlainText(job["createTime"]);
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, text, &created, &error)) {
      return Internal("createTime '{}': {}", text, error);
    }
    table.AddRow({{PlainText(job["jobId"]), Style::kBold},
                  {PlainText(job["state"])},
                  {FormatMoment(created, zone)}});
  }
  return table;
}

absl::StatusOr<ExitCode> PrintJobs(Context& context, const ListJobsArgs& args) {
  const gcloud::TimeFrame frame = {.now = context.Now(), .zone = context.zone()};
  VERNIER_ASSIGN_OR_RETURN(const AnswerFormat format, ReadAnswerFormat(args.gcloud, &JobAliases()));
  JobQuery query = args.query;
  query.project = args.gcloud.project;
  VERNIER_ASSIGN_OR_RETURN(JobSelection selection, ReadJobQuery(query, format, frame));
  // Programs get whole jobs.
  selection.needs_trials = selection.needs_trials || !context.output().is_table();
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(JobList list, ListJobs(connection, selection, frame));
  for (const std::string& warning : list.warnings) {
    context.console().err << fmt::format("vernier: warning: {}\n", warning);
  }
  // gcloud's --uri replaces the list by names.
  // `--format none` prints nothing, names included.
  if (args.uri && format.format.name != "none") {
    for (const Json& job : list.jobs) {
      const std::string id = PlainText(job["jobId"]);
      context.console().out << JobResource({.project = query.project, .job = id}) << '\n';
    }
    return ExitCode::kOk;
  }
  if (PrintAnswers(format, kListColumns, list.jobs, context)) return ExitCode::kOk;
  VERNIER_ASSIGN_OR_RETURN(const Table table, JobTable(list.jobs, context.zone()));
  context.output().List(table, list.jobs);
  return ExitCode::kOk;
}

struct JobArgs {
  std::string id;
  GcloudFlags gcloud;
};

// A job that has ended is left as it is, without an error.
absl::StatusOr<ExitCode> Cancel(Context& context, const JobArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const JobReference job, ReadJob(args.id, args.gcloud));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_RETURN_IF_ERROR(
      ExplainMissing(job, StopStudy(connection, job.study, "cancelled by the user")));
  return ExitCode::kOk;
}

struct UpdateArgs {
  std::string id;
  LabelFlags labels;
  GcloudFlags gcloud;
};

absl::StatusOr<ExitCode> UpdateJob(Context& context, const UpdateArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const AnswerFormat format, ReadAnswerFormat(args.gcloud));
  VERNIER_ASSIGN_OR_RETURN(const JobReference job, ReadJob(args.id, args.gcloud));
  v1::UpdateStudyRequest request;
  request.set_name(wire::StudyResource(job.study));
  request.set_request_id(NewRequestId());
  VERNIER_RETURN_IF_ERROR(ApplyLabelFlags(args.labels, request));
  if (request.update_mask().paths().empty()) {
    return InvalidArgument(
        "nothing to update: give --update-labels, --remove-labels or --clear-labels");
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  const absl::StatusOr<v1::Study> message =
      connection.CallOn(job.study, &Stub::UpdateStudy, request);
  if (!message.ok()) return ExplainMissing(job, message.status());
  VERNIER_ASSIGN_OR_RETURN(const Study study, wire::DecodeStudy(*message));
  PrintJob(context, format, {{"jobId", job.name.job}, {"labels", study.spec.labels}});
  return ExitCode::kOk;
}

struct StreamArgs {
  std::string id;
  std::string task;
  bool multiline = false;
  int polling_interval = 0;
  GcloudFlags gcloud;
};

absl::Status SetFormatOfLogs(Context& context, const GcloudFlags& flags) {
  VERNIER_ASSIGN_OR_RETURN(const AnswerFormat answer, ReadAnswerFormat(flags));
  const gcloud::FormatSpec& format = answer.format;
  if (format.name.empty() && format.columns.empty()) return absl::OkStatus();
  // Lines are streamed, so that a format which needs all of them, or parts of them, cannot be had.
  const std::optional<Format> whole = ParseFormat(format.name);
  if (!whole || !format.columns.empty()) {
    return InvalidArgument(
        "--format: lines of logs come whole, as json, yaml, csv or table, got '{}'", flags.format);
  }
  context.output().set_options(
      {.format = *whole,
       .headers = !format.Has("no-heading") && context.output().options().headers});
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> StreamLogs(Context& context, const StreamArgs& args) {
  VERNIER_RETURN_IF_ERROR(SetFormatOfLogs(context, args.gcloud));
  VERNIER_ASSIGN_OR_RETURN(const JobReference job, ReadJob(args.id, args.gcloud));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  const absl::StatusOr<StudyRecord> record = GetStudy(connection, job.study);
  if (!record.ok()) return ExplainMissing(job, record.status());
  const StudySpec& spec = record->study.spec;
  // An unknown task would wait until the job ends and print nothing.
  if (!args.task.empty() && spec.job && !HasTask(spec, args.task)) {
    context.console().err << fmt::format("vernier: --task-name: job '{}' has {}, got '{}'\n",
                                         job.name.job,
                                         DescribeTasks(spec),
                                         args.task);
    return ExitCode::kFailed;
  }
  const JobLogOptions options = {.task = args.task, .one_line = !args.multiline};
  Interrupts interrupts;
  VERNIER_RETURN_IF_ERROR(
      StreamJobLogs(context, connection, job.study, options, interrupts).status());
  return ExitCode::kOk;
}

void AddSubmit(CLI::App& jobs, Action& chosen) {
  CLI::App* submit = jobs.add_subcommand("submit", "Submit a training job");
  submit->require_subcommand(1);
  auto [training, args] =
      AddCommand<SubmitArgs>(*submit,
                             "training",
                             "Submit a training job; arguments of the program follow after --",
                             &Submit,
                             chosen);
  AddJobOption(*training, args->id);
  AddJobFlags(*training, args->job);
  training->add_option("--staging-bucket",
                       args->staging_bucket,
                       "Accepted for compatibility; the server keeps packages");
  training->add_flag("--stream-logs", args->stream_logs, "Print the job's output until it ends");
  training->add_flag("--async", args->async, "Return at once (the default)");
  AddGcloudFlags(*training, args->gcloud);
}

void AddList(CLI::App& jobs, Action& chosen) {
  auto [list, args] =
      AddCommand<ListJobsArgs>(jobs, "list", "List training jobs", &PrintJobs, chosen);
  JobQuery& query = args->query;
  list->add_option("--filter",
                   query.filter,
                   "Only these jobs, e.g. 'jobId:census* AND state:(FAILED CANCELLED)', "
                   "'createTime>-P1D'; OR binds tighter than AND");
  AddListFlag(*list,
              "--sort,--sort-by",
              query.sort,
              "Sort by keys, e.g. jobId; ~createTime, newest first, is the default");
  list->add_option("--limit", query.limit, "Show at most this many")->check(AtLeast(1));
  list->add_option("--page-size", query.page_size, "Number of jobs to fetch per call")
      ->check(AtLeast(1));
  list->add_flag(
      "--uri", args->uri, "Print only resource names: studies/JOB, or projects/PROJECT/jobs/JOB");
  AddGcloudFlags(*list, args->gcloud);
}

}  // namespace

void AddJobCommands(CLI::App& root, Action& chosen) {
  CLI::App* jobs =
      root.add_subcommand("jobs", "Manage training jobs with the commands of gcloud ai-platform");
  jobs->require_subcommand(1);
  AddSubmit(*jobs, chosen);

  auto [describe, describe_args] =
      AddCommand<DescribeArgs>(*jobs, "describe", "Show a training job in full", &ShowJob, chosen);
  AddJobOption(*describe, describe_args->id);
  describe->add_flag("--summarize", describe_args->summarize, "Show tables instead of YAML");

  AddGcloudFlags(*describe, describe_args->gcloud);

  AddList(*jobs, chosen);

  auto [cancel, cancel_args] =
      AddCommand<JobArgs>(*jobs, "cancel", "Cancel a training job", &Cancel, chosen);
  AddJobOption(*cancel, cancel_args->id);
  AddGcloudFlags(*cancel, cancel_args->gcloud);

  auto [update, update_args] = AddCommand<UpdateArgs>(
      *jobs, "update", "Change the labels of a training job", &UpdateJob, chosen);
  AddJobOption(*update, update_args->id);
  AddLabelFlags(*update, update_args->labels);
  AddGcloudFlags(*update, update_args->gcloud);

  auto [logs, log_args] = AddCommand<StreamArgs>(
      *jobs, "stream-logs", "Print the output of a job until it has ended", &StreamLogs, chosen);
  AddJobOption(*logs, log_args->id);
  logs->add_option(
      "--task-name", log_args->task, "Only the lines of this task, e.g. worker-replica-1");
  logs->add_flag(
      "--allow-multiline-logs", log_args->multiline, "Keep multi-line messages together");
  logs->add_option("--polling-interval",
                   log_args->polling_interval,
                   "Accepted for compatibility; lines are shown as they are printed");
  AddGcloudFlags(*logs, log_args->gcloud);
}

}  // namespace vernier::cli
