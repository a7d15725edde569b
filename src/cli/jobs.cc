#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/gcloud_flags.h"
#include "src/cli/hint.h"
#include "src/cli/interrupts.h"
#include "src/cli/job_description.h"
#include "src/cli/job_flags.h"
#include "src/cli/job_list.h"
#include "src/cli/job_logs.h"
#include "src/cli/job_packages.h"
#include "src/cli/label_flags.h"
#include "src/cli/replica_choice.h"
#include "src/cli/resources.h"
#include "src/cli/study_source.h"
#include "src/cli/temporary_folder.h"
#include "src/cli/terminal/figures.h"
#include "src/codec/document.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/jobs/resolution.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"
#include "vernier/core/error.h"

// Training jobs as users of `gcloud ai-platform jobs` know them: the same commands, flags and answers. A job is a study
// that runs a training job.
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
  if (config.ok() || GetField(config.status()) == path) return config;
  return InvalidArgument("{}: {}", path, std::string(config.status().message()));  // A line.
}

// The packages to send: those of the flags, or else those files that the configuration names.
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

// A job directory that is a path is one of this machine's, whatever folder the server runs in.
absl::Status MakeAbsolute(Json& input) {
  const auto given = input.find("jobDir");
  if (given == input.end() || !given->is_string()) return absl::OkStatus();
  const auto& path = given->get_ref<const std::string&>();
  if (path.empty() || path.find("://") != std::string::npos) return absl::OkStatus();
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return Unavailable("--job-dir: '{}': {}", path, error.message());
  *given = absolute.lexically_normal().string();
  return absl::OkStatus();
}

absl::StatusOr<StudySpec> MakeSpec(Connection& connection, Context& context, SubmitArgs args) {
  args.job.args = context.flags().user_args;
  args.job.project = args.gcloud.project;
  VERNIER_ASSIGN_OR_RETURN(Json config, ReadConfig(args.job.config));
  VERNIER_ASSIGN_OR_RETURN(Json job, ApplyJobFlags(args.id, std::move(config), args.job));
  Json& input = job["trainingInput"];
  VERNIER_RETURN_IF_ERROR(codec::StudySpecFromJson(job).status());  // Before anything is sent.
  VERNIER_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create());
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> packages,
                           PackagesOf(args.job, input, folder.path()));
  if (!packages.empty()) {
    VERNIER_ASSIGN_OR_RETURN(input["packageUris"], UploadPackages(connection, packages));
  }
  VERNIER_RETURN_IF_ERROR(MakeAbsolute(input));
  return codec::StudySpecFromJson(job);
}

// Of the first of its trials that waits, if none runs.
std::optional<JobWait> FindWait(Connection& connection, const std::vector<TrialRecord>& trials) {
  const bool waits = !trials.empty() && std::ranges::all_of(trials, [](const TrialRecord& trial) {
    return trial.trial.state == TrialState::kQueued || IsFinished(trial.trial.state);
  });
  const auto first = std::ranges::find(
      trials, TrialState::kQueued, [](const TrialRecord& trial) { return trial.trial.state; });
  if (!waits || first == trials.end()) return std::nullopt;
  v1::ListQueueRequest request;
  request.set_trial(first->message.name());
  const auto response = connection.Call(&Connection::ClusterStub::ListQueue, request);
  if (!response.ok() || response->trials().empty()) return std::nullopt;
  const v1::QueuedTrial& queued = response->trials(0);
  return JobWait{.position = queued.position(), .reason = queued.reason()};
}

absl::StatusOr<Json> LookAt(Connection& connection, const std::string& id) {
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, id));
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  return JobToJson(study, trials, FindWait(connection, trials));
}

void PrintJob(Context& context, const Projection& projection, const Json& job) {
  if (PrintProjected(projection, job, context.output())) return;
  context.output().Item(codec::JsonToYaml(job), job);
}

absl::Status ExplainTaken(const std::string& id, absl::Status status) {
  if (GetReason(status) != Reason::kStudyExists) return status;
  return WithHint(
      std::move(status),
      fmt::format("choose another JOB, or look at that one with `vernier jobs describe {}`", id));
}

// What is said of a job that was submitted, or has ended.
Json Brief(const Json& job) {
  Json brief = Json::object();
  for (const char* key : {"jobId", "state", "startTime", "endTime", "errorMessage"}) {
    if (job.contains(key)) brief[key] = job[key];
  }
  return brief;
}

absl::StatusOr<ExitCode> StreamToTheEnd(Context& context,
                                        Connection& connection,
                                        const std::string& id,
                                        const Projection& projection) {
  Interrupts interrupts;
  VERNIER_RETURN_IF_ERROR(StreamJobLogs(context, connection, id, {}, interrupts).status());
  VERNIER_ASSIGN_OR_RETURN(const Json job, LookAt(connection, id));
  PrintJob(context, projection, Brief(job));
  if (job["state"] == "SUCCEEDED") return ExitCode::kOk;
  if (interrupts.count() == 0) return ExitCode::kFailed;
  context.console().err << fmt::format("leaving; the server goes on with job '{}'\n", id);
  return ExitCode::kInterrupted;
}

absl::StatusOr<ExitCode> Submit(Context& context, const SubmitArgs& args) {
  if (args.async && args.stream_logs) {
    return InvalidArgument("--async: cannot go with --stream-logs");
  }
  VERNIER_ASSIGN_OR_RETURN(const Projection projection, ParseFormatFlag(args.gcloud.format));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect(MissingStore::kCreate));
  VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, MakeSpec(connection, context, args));
  VERNIER_RETURN_IF_ERROR(ExplainTaken(spec.name, CreateStudy(connection, spec).status()));

  std::ostream& err = context.console().err;
  err << fmt::format("Job [{}] submitted successfully.\n", spec.name);
  const std::vector<std::string> idle = jobs::FieldsWithoutEffect(*spec.job->input);
  if (!idle.empty()) err << fmt::format("Without effect here: {}.\n", fmt::join(idle, ", "));
  if (connection.is_embedded()) err << "Nothing runs it yet: `vernier server start` does.\n";
  err << fmt::format("  vernier jobs describe {0}\n  vernier jobs stream-logs {0}\n", spec.name);
  if (!args.stream_logs) {
    VERNIER_ASSIGN_OR_RETURN(const Json job, LookAt(connection, spec.name));
    PrintJob(context, projection, Brief(job));
    return ExitCode::kOk;
  }
  return StreamToTheEnd(context, connection, spec.name, projection);
}

struct DescribeArgs {
  std::string id;
  bool summarize = false;
  GcloudFlags gcloud;
};

absl::StatusOr<ExitCode> Describe(Context& context, const DescribeArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const Projection projection, ParseFormatFlag(args.gcloud.format));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const Json job, LookAt(connection, args.id));
  if (!args.summarize) {
    PrintJob(context, projection, job);
  } else if (!PrintProjected(projection, job, context.output())) {
    const Console& console = context.console();
    context.output().Item(SummarizeJob(job, {.width = console.width, .color = console.color}), job);
  }
  return ExitCode::kOk;
}

struct ListArgs {
  Query query;
  bool uri = false;
  GcloudFlags gcloud;
};

absl::StatusOr<ExitCode> List(Context& context, const ListArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const Projection projection, ParseFormatFlag(args.gcloud.format));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const auto jobs, ListJobs(connection, args.query));
  Table table({{.name = "JOB_ID", .flexible = true}, {.name = "STATUS"}, {.name = "CREATED"}});
  Json items = Json::array();
  for (const auto& [study, state] : jobs) {
    const std::string& id = study.spec.name;
    if (args.uri) context.console().out << wire::StudyResource(id) << '\n';
    table.AddRow({{id, Style::kBold}, {state}, {FormatMoment(study.created, context.zone())}});
    items.push_back({{"jobId", id}, {"state", state}, {"createTime", TimeText(study.created)}});
    if (!study.spec.labels.empty()) items.back()["labels"] = study.spec.labels;
  }
  if (args.uri || PrintProjected(projection, items, context.output())) return ExitCode::kOk;
  context.output().List(table, items);
  return ExitCode::kOk;
}

struct JobArgs {
  std::string id;
  GcloudFlags gcloud;
};

// What has ended already needs no cancelling, and that is no error.
absl::StatusOr<ExitCode> Cancel(Context& context, const JobArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_RETURN_IF_ERROR(StopStudy(connection, args.id, "cancelled by the user"));
  return ExitCode::kOk;
}

struct UpdateArgs {
  std::string id;
  LabelFlags labels;
  GcloudFlags gcloud;
};

absl::StatusOr<ExitCode> Update(Context& context, const UpdateArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const Projection projection, ParseFormatFlag(args.gcloud.format));
  v1::UpdateStudyRequest request;
  request.set_name(wire::StudyResource(args.id));
  request.set_request_id(NewRequestId());
  VERNIER_RETURN_IF_ERROR(ApplyLabelFlags(args.labels, request));
  if (request.update_mask().paths().empty()) {
    return InvalidArgument(
        "nothing to update: give --update-labels, --remove-labels or --clear-labels");
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const v1::Study message,
                           connection.CallOn(args.id, &Stub::UpdateStudy, request));
  VERNIER_ASSIGN_OR_RETURN(const Study study, wire::DecodeStudy(message));
  PrintJob(context, projection, {{"jobId", study.spec.name}, {"labels", study.spec.labels}});
  return ExitCode::kOk;
}

struct StreamArgs {
  std::string id;
  std::string task;
  bool multiline = false;
  int polling_interval = 0;
  GcloudFlags gcloud;
};

absl::StatusOr<ExitCode> StreamLogs(Context& context, const StreamArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const Projection projection, ParseFormatFlag(args.gcloud.format));
  if (!projection.keys.empty() || projection.format == "none") {
    return InvalidArgument(
        "--format: lines of logs come whole, as json, yaml, csv or table, got '{}'",
        args.gcloud.format);
  }
  PrintProjected(projection, Json::object(), context.output());
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, GetStudy(connection, args.id));
  const StudySpec& spec = record.study.spec;
  if (!args.task.empty() && spec.job && !HasTask(spec, args.task)) {
    context.console().err << fmt::format("vernier: --task-name: job '{}' has {}, got '{}'\n",
                                         args.id,
                                         DescribeTasks(spec),
                                         args.task);
    return ExitCode::kFailed;
  }
  const JobLogOptions options = {.task = args.task, .one_line = !args.multiline};
  Interrupts interrupts;
  VERNIER_RETURN_IF_ERROR(
      StreamJobLogs(context, connection, args.id, options, interrupts).status());
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
  training->add_option("JOB", args->id, "Id of the job: letters, digits and underscores")
      ->required();
  AddJobFlags(*training, args->job);
  training->add_option("--staging-bucket",
                       args->staging_bucket,
                       "Accepted for compatibility; the server keeps packages");
  training->add_flag("--stream-logs", args->stream_logs, "Print the job's output until it ends");
  training->add_flag("--async", args->async, "Return at once (the default)");
  AddGcloudFlags(*training, args->gcloud);
}

void AddList(CLI::App& jobs, Action& chosen) {
  auto [list, args] = AddCommand<ListArgs>(jobs, "list", "List training jobs", &List, chosen);
  Query& query = args->query;
  list->add_option(
      "--filter",
      query.filter,
      "Only these jobs, e.g. 'jobId:census* AND state:FAILED'; OR binds tighter than AND");
  list->add_option("--sort,--sort-by",
                   query.sort,
                   "Sort by a field, e.g. createTime; -createTime or ~createTime is descending");
  list->add_option("--limit", query.limit, "Show at most this many")->check(AtLeast(1));
  list->add_option("--page-size", query.page_size, "Number of jobs to fetch per call")
      ->check(AtLeast(1));
  list->add_flag("--uri", args->uri, "Print only resource names, studies/JOB");
  AddGcloudFlags(*list, args->gcloud);
}

}  // namespace

void AddJobCommands(CLI::App& root, Action& chosen) {
  CLI::App* jobs =
      root.add_subcommand("jobs", "Manage training jobs with the commands of gcloud ai-platform");
  jobs->require_subcommand(1);
  AddSubmit(*jobs, chosen);

  auto [describe, describe_args] =
      AddCommand<DescribeArgs>(*jobs, "describe", "Show a training job in full", &Describe, chosen);
  describe->add_option("JOB", describe_args->id, "Id of the job")->required();
  describe->add_flag("--summarize", describe_args->summarize, "Show tables instead of YAML");

  AddGcloudFlags(*describe, describe_args->gcloud);

  AddList(*jobs, chosen);

  auto [cancel, cancel_args] =
      AddCommand<JobArgs>(*jobs, "cancel", "Cancel a training job", &Cancel, chosen);
  cancel->add_option("JOB", cancel_args->id, "Id of the job")->required();
  AddGcloudFlags(*cancel, cancel_args->gcloud);

  auto [update, update_args] = AddCommand<UpdateArgs>(
      *jobs, "update", "Change the labels of a training job", &Update, chosen);
  update->add_option("JOB", update_args->id, "Id of the job")->required();
  AddLabelFlags(*update, update_args->labels);
  AddGcloudFlags(*update, update_args->gcloud);

  auto [logs, log_args] = AddCommand<StreamArgs>(
      *jobs, "stream-logs", "Show what a job prints until it has ended", &StreamLogs, chosen);
  logs->add_option("JOB", log_args->id, "Id of the job")->required();
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
