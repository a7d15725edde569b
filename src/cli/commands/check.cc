// `vernier check` runs a trial exactly as `vernier run` would: with the real engine, launcher and metric readers, on a
// server in a temporary folder. Only the study is changed (TriedSpec), so that one trial runs once and touches nothing
// of the user's. Reasons for a missing objective are therefore the real ones. Stop waits until the program has ended,
// since the folder that supervisors write to is removed afterwards.

#include "src/cli/commands/check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/clean_up.h"
#include "src/app/listen_address.h"
#include "src/base/temporary_folder.h"
#include "src/cli/arguments.h"
#include "src/cli/hint.h"
#include "src/cli/interrupts.h"
#include "src/cli/job_packages.h"
#include "src/cli/job_warnings.h"
#include "src/cli/log_text.h"
#include "src/cli/resources.h"
#include "src/cli/room_hint.h"
#include "src/cli/study_source.h"
#include "src/cli/study_warnings.h"
#include "src/cli/terminal/figures.h"
#include "src/core/objectives.h"
#include "src/core/outcome_constraint.h"
#include "src/core/status.h"
#include "src/jobs/layout.h"
#include "src/jobs/reproduction.h"
#include "src/wire/time_proto.h"
#include "src/wire/trial_proto.h"
#include "vernier/metric_reader.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;

// Time between looks at the trial. A choice: short programs end within a second.
constexpr absl::Duration kCheckPeriod = absl::Milliseconds(50);
// How long to wait for a second measurement, which shows how long a step takes: as long as the first took, within these
// bounds. A choice.
constexpr absl::Duration kShortestWait = absl::Seconds(1);
constexpr absl::Duration kLongestWait = absl::Seconds(10);
// Longest grace period when the program is told to stop, whatever the study says: a user waits.
constexpr absl::Duration kLongestGrace = absl::Seconds(10);
// Lines of output that are shown after a failure: a traceback fits.
constexpr int kLogLines = 15;

std::string Field(std::string_view name, std::string_view value) {
  return fmt::format("{:<12}{}\n", name, value);
}

// Removes from the folders that nodes share what the trial left there. What it left here goes with the temporary folder.
void ForgetOnClusters(const app::ServerOptions& options, const std::filesystem::path& attempt) {
  for (const auto& [name, cluster] : options.clusters) {
    app::DisclaimRuns(cluster.shared, options.store);
    if (attempt.empty() || !attempt.string().starts_with(cluster.shared + "/")) continue;
    std::error_code error;
    std::filesystem::remove_all(attempt, error);
    // Only if they are empty: a study of that name may have its runs there.
    std::filesystem::remove(attempt.parent_path(), error);
    std::filesystem::remove(attempt.parent_path().parent_path(), error);
  }
}

// The study reduced to its first trial, run once, without effects outside of `folder`.
StudySpec TriedSpec(StudySpec spec, const std::string& folder) {
  spec.budget = {.trials = 1};
  spec.parallel = 1;
  spec.stopping = {.name = "none", .options = {}};
  spec.convergence.reset();
  spec.warm_start.clear();
  TrainingJob& job = *spec.job;
  job.restarts.replica = 0;
  job.restarts.job = 0;
  job.restarts.internal = 0;
  job.grace = std::min(job.grace, kLongestGrace);
  // The job directory of the user's own trial 1 is neither read nor written: a checkpoint or event file there would be
  // found.
  const std::string directory = folder + "/job-dir";
  if (!job.job_directory.empty()) job.job_directory = directory;
  if (job.input.has_value() && !job.input->job_dir.empty()) job.input->job_dir = directory;
  return spec;
}

// What is known of the trial.
struct Finding {
  std::optional<Trial> trial;
  std::vector<Measurement> measurements;
  std::string study_reason;  // Why the study ended, if no trial was created.
  bool timed_out = false;
  bool interrupted = false;
};

class CheckRun {
 public:
  // `parallel`: of the original study; readers warn if its trials would share a folder.
  CheckRun(Context& context,
           Connection& connection,
           StudySpec spec,
           std::int32_t parallel,
           absl::Duration timeout)
      : context_(context),
        connection_(connection),
        spec_(std::move(spec)),
        parallel_(parallel),
        deadline_(context.Now() + timeout) {}

  absl::StatusOr<ExitCode> Run() {
    VERNIER_ASSIGN_OR_RETURN(const v1::Study study, CreateStudy(connection_, spec_));
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord stored, GetStudy(connection_, spec_.name));
    spec_ = stored.study.spec;
    absl::Status status = Watch();
    // Also after an error or an interrupt, so that nothing is left running.
    const absl::Status stopped = Stop();
    VERNIER_RETURN_IF_ERROR(status);
    VERNIER_RETURN_IF_ERROR(stopped);
    return Report();
  }

  // The folder of its attempt; empty: there was none.
  std::string directory() const {
    const bool has_run = finding_.trial.has_value() && !finding_.trial->attempts.empty();
    return has_run ? finding_.trial->attempts.back().directory : std::string();
  }

 private:
  // Waits until there is nothing more to wait for.
  absl::Status Watch() {
    while (true) {
      VERNIER_RETURN_IF_ERROR(Look());
      finding_.interrupted = interrupts_.count() > 0;
      finding_.timed_out = !finding_.interrupted && context_.Now() >= deadline_;
      if (finding_.interrupted || finding_.timed_out || IsOver() || HasEnough()) {
        return absl::OkStatus();
      }
      interrupts_.Wait(kCheckPeriod);
    }
  }

  absl::Status Look() {
    const absl::StatusOr<TrialRecord> record = GetTrial(connection_, spec_.name, "1");
    if (absl::IsNotFound(record.status())) {  // Not proposed yet, or the study has ended.
      VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection_, spec_.name));
      if (IsFinished(study.study.state)) finding_.study_reason = study.study.reason;
      return absl::OkStatus();
    }
    VERNIER_RETURN_IF_ERROR(record.status());
    const bool is_new = !finding_.trial.has_value() || finding_.trial->attempts.empty();
    finding_.trial = record->trial;
    if (is_new && !record->trial.attempts.empty()) VERNIER_RETURN_IF_ERROR(Announce());
    if (record->trial.measurements == std::ssize(finding_.measurements)) return absl::OkStatus();
    VERNIER_ASSIGN_OR_RETURN(const auto messages, ListMeasurements(connection_, record->message));
    finding_.measurements.clear();
    for (const v1::Measurement& message : messages) {
      finding_.measurements.push_back(wire::DecodeMeasurement(message));
    }
    if (!seen_.has_value() && IsMeasured()) seen_ = context_.Now();
    return absl::OkStatus();
  }

  bool IsOver() const {
    return !finding_.study_reason.empty() ||
           (finding_.trial.has_value() && IsFinished(finding_.trial->state));
  }

  // Whether every objective has been measured.
  bool IsMeasured() const {
    return !spec_.objectives.empty() && finding_.trial.has_value() &&
           MissingObjectives(spec_.objectives, finding_.trial->last.value_or(Measurement()).metrics)
               .empty();
  }

  bool HasEnough() const {
    if (!seen_.has_value()) return false;
    if (PerStep().has_value()) return true;
    const absl::Duration first = First().value_or(absl::ZeroDuration());
    return context_.Now() - *seen_ >= std::clamp(first, kShortestWait, kLongestWait);
  }

  // Time from the program's start to the first value of the first objective.
  std::optional<absl::Duration> First() const {
    const std::string& metric = FirstObjective(spec_).metric;
    for (const Measurement& measurement : finding_.measurements) {
      if (measurement.metrics.contains(metric)) {
        return std::max(measurement.elapsed, absl::ZeroDuration());
      }
    }
    return std::nullopt;
  }

  // Time per step, if the objective has values at two steps.
  std::optional<absl::Duration> PerStep() const {
    const std::string& metric = FirstObjective(spec_).metric;
    const Measurement* first = nullptr;
    const Measurement* last = nullptr;
    for (const Measurement& measurement : finding_.measurements) {
      if (!measurement.metrics.contains(metric)) continue;
      if (first == nullptr) first = &measurement;
      last = &measurement;
    }
    if (first == nullptr || last->step <= first->step) return std::nullopt;
    return (last->time - first->time) / (last->step - first->step);
  }

  // Shows the command line and environment once the trial has been placed; ports and devices are not known before.
  absl::Status Announce() {
    const Trial& trial = *finding_.trial;
    const Attempt& attempt = trial.attempts.back();
    std::error_code error;
    VERNIER_ASSIGN_OR_RETURN(
        const GangProgram gang,
        jobs::MakeGangProgram({{StudyId(), trial.number}, attempt.number},
                              spec_,
                              trial,
                              {.placement = attempt.placement, .directory = attempt.directory},
                              std::filesystem::current_path(error).string()));
    auto replicas = nlohmann::ordered_json::array();
    std::string text;
    for (const ReplicaProgram& replica : gang.replicas) {
      std::string command;
      for (const std::string& word : replica.argv) {
        command += (command.empty() ? "" : " ") + jobs::ShellQuote(word);
      }
      const std::string name = fmt::format("{} {}", replica.role, replica.index);
      text += Field(gang.replicas.size() > 1 ? name : "command", command);
      replicas.push_back({{"replica", name},
                          {"command", replica.argv},
                          {"directory", replica.directory},
                          {"environment", replica.env}});
    }
    const ReplicaProgram& primary = gang.replicas.front();
    text += Field("directory", primary.directory);
    bool is_first = true;
    for (const auto& [name, value] : primary.env) {
      text += Field(is_first ? "environment" : "", name + "=" + jobs::ShellQuote(value));
      is_first = false;
    }
    text.pop_back();
    context_.output().Say(text);
    replicas_ = std::move(replicas);
    gang_ = gang;
    return absl::OkStatus();
  }

  // Stops the trial and waits until it has ended.
  absl::Status Stop() {
    VERNIER_RETURN_IF_ERROR(StopStudy(connection_, spec_.name, "its check is over"));
    // Grace period, kill, and some time for the records.
    const absl::Time late = context_.Now() + 3 * kLongestGrace;
    while (context_.Now() < late) {
      VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection_, spec_.name));
      if (IsFinished(study.study.state)) return absl::OkStatus();
      interrupts_.Wait(kCheckPeriod);
    }
    return Unavailable("the trial's program does not end; its processes may be left");
  }

  // One line for each metric and source.
  std::string Found(nlohmann::ordered_json& items) const {
    struct Curve {
      std::int64_t count = 0;
      const Measurement* first = nullptr;
      const Measurement* last = nullptr;
    };
    std::map<std::pair<std::string, std::string>, Curve> curves;  // By metric and source.
    for (const Measurement& measurement : finding_.measurements) {
      for (const auto& [metric, value] : measurement.metrics) {
        Curve& curve = curves[{metric, measurement.source}];
        ++curve.count;
        if (curve.first == nullptr) curve.first = &measurement;
        curve.last = &measurement;
      }
    }
    std::string text;
    for (const auto& [key, curve] : curves) {
      const auto& [metric, source] = key;
      const double first = curve.first->metrics.at(metric);
      std::string line = fmt::format("{} = {} at step {}, from {}",
                                     metric,
                                     FormatFigure(first),
                                     curve.first->step,
                                     SourceText(source));
      if (curve.count > 1) {
        line += fmt::format(", then {} more up to step {}", curve.count - 1, curve.last->step);
      }
      text += Field(text.empty() ? "measured" : "", line);
      items.push_back({{"metric", metric},
                       {"source", source},
                       {"count", curve.count},
                       {"first", first},
                       {"first_step", curve.first->step},
                       {"last_step", curve.last->step}});
    }
    return text.empty() ? Field("measured", "nothing") : text;
  }

  // Candidates for metrics in everything that the program has left, by a metric reader of this process.
  absl::StatusOr<std::vector<MetricSighting>> Sightings() const {
    if (!gang_.has_value()) return std::vector<MetricSighting>();
    StudySpec spec = spec_;
    spec.parallel = parallel_;
    VERNIER_ASSIGN_OR_RETURN(const auto reader, NewMetricReader(spec, *finding_.trial, *gang_));
    VERNIER_RETURN_IF_ERROR(reader->Finish().status());
    return reader->Sightings();
  }

  // Names that contain the metric's name but were not taken for it; empty: none.
  static std::string PassedOver(const std::vector<MetricSighting>& sightings) {
    std::string text;
    for (const MetricSighting& sighting : sightings) {
      if (sighting.values == 0) continue;
      for (const MetricSighting::Candidate& candidate : sighting.candidates) {
        text += Field(text.empty() ? "seen" : "", Printable(candidate.what));
        text += Field("",
                      fmt::format("to take that one for {}, write `metrics: {{{}}}`",
                                  sighting.metric,
                                  Printable(candidate.entry)));
      }
    }
    return text;
  }

  // Near misses of missing metrics, with what to write in the study file; empty: none.
  static std::string NearlyFound(const std::vector<MetricSighting>& missing) {
    std::string text;
    for (const MetricSighting& sighting : missing) {
      if (sighting.values > 0) continue;
      for (const MetricSighting::Candidate& candidate : sighting.candidates) {
        text += Field(text.empty() ? "seen" : "", Printable(candidate.what));
        if (candidate.entry.empty()) continue;
        text += Field("", fmt::format("write `metrics: {{{}}}`", Printable(candidate.entry)));
      }
    }
    return text;
  }

  static std::string SourceText(const std::string& source) {
    if (source == "log") return "the output";
    if (source == "json") return "JSON lines of the output";
    if (source == "tfevents") return "TensorBoard event files";
    if (source == "hypertune") return "the file of cloudml-hypertune";
    if (source == "client") return "a report";
    return source.empty() ? "an unknown source" : source;
  }

  // Why the objective was not measured.
  std::string Reason() const {
    if (!finding_.trial.has_value()) {
      return finding_.study_reason.empty() ? "no trial was started" : finding_.study_reason;
    }
    const Trial& trial = *finding_.trial;
    const std::string missing =
        MissingObjectives(spec_.objectives, trial.last.value_or(Measurement()).metrics);
    if (finding_.interrupted) return "interrupted";
    if (finding_.timed_out) {
      return missing.empty() ? "it still ran when the time was up"
                             : fmt::format("it reported no {} before the time was up", missing);
    }
    return trial.message.empty() ? fmt::format("it reported no {}", missing) : trial.message;
  }

  // Metrics of outcome constraints that were not measured.
  absl::StatusOr<std::vector<std::string>> Unjudged() const {
    VERNIER_ASSIGN_OR_RETURN(const auto constraints, ParseOutcomeConstraints(spec_));
    std::map<std::string, double> measured;
    for (const Measurement& measurement : finding_.measurements) {
      measured.insert(measurement.metrics.begin(), measurement.metrics.end());
    }
    return MissingMetrics(constraints, measured);
  }

  // The last lines of output: they are removed with the store.
  std::vector<std::string> LastLines() {
    v1::StreamTrialLogsRequest request;
    request.set_name(fmt::format("studies/{}/trials/1", spec_.name));
    request.set_tail(kLogLines);
    grpc::ClientContext call;
    const auto reader = connection_.stub().StreamTrialLogs(&call, request);
    std::vector<std::string> lines;
    v1::LogLine line;
    while (reader->Read(&line)) lines.push_back(line.text());
    reader->Finish();
    return lines;
  }

  absl::StatusOr<ExitCode> Report() {
    const bool is_tuned = !spec_.objectives.empty();
    const bool is_completed =
        finding_.trial.has_value() && finding_.trial->state == TrialState::kCompleted;
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> unjudged, Unjudged());
    const bool has_result = is_tuned ? IsMeasured() : is_completed;
    // A program that was stopped may still have reported it.
    const bool is_unjudged = has_result && is_completed && !unjudged.empty();
    const bool is_ok = has_result && !is_unjudged;
    std::string reason;
    if (is_unjudged) {
      reason =
          fmt::format("it reported no '{}' of outcome_constraints, so that no trial would count",
                      fmt::join(unjudged, "', '"));
    } else if (!is_ok) {
      reason = Reason();
    }
    auto measured = nlohmann::ordered_json::array();
    std::string text = is_tuned || !finding_.measurements.empty() ? Found(measured) : "";
    const auto first = is_tuned ? First() : std::nullopt;
    const auto per_step = is_tuned ? PerStep() : std::nullopt;
    if (first.has_value()) {
      std::string time = fmt::format("{} to the first measurement", FormatElapsed(*first));
      if (per_step.has_value()) time += fmt::format(", then {} a step", FormatElapsed(*per_step));
      text += Field("time", time);
    }
    if (is_ok && !unjudged.empty()) {
      text +=
          Field("not yet",
                fmt::format("'{}' of outcome_constraints: the program was stopped before its end",
                            fmt::join(unjudged, "', '")));
    }
    nlohmann::ordered_json item = {
        {"study", spec_.name}, {"ok", is_ok}, {"replicas", replicas_}, {"measured", measured}};
    if (first.has_value()) item["seconds_to_first"] = absl::ToDoubleSeconds(*first);
    if (per_step.has_value()) item["seconds_per_step"] = absl::ToDoubleSeconds(*per_step);
    if (!is_ok) {
      const std::vector<std::string> lines = LastLines();
      bool is_first = true;
      for (const std::string& line : lines) {
        text += Field(is_first ? "output" : "", ShownText(line));
        is_first = false;
      }
      if (lines.empty()) text += Field("output", "none");
      item["reason"] = reason;
      item["output"] = lines;
    }
    const bool is_silent = is_unjudged || (!has_result && !finding_.interrupted && HasEndedWell());
    if (is_tuned && (is_ok || is_silent)) {
      VERNIER_ASSIGN_OR_RETURN(const std::vector<MetricSighting> sightings, Sightings());
      const std::string near = is_ok ? PassedOver(sightings) : NearlyFound(sightings);
      const std::string& wanted = is_unjudged ? unjudged.front() : FirstObjective(spec_).metric;
      text += near.empty() && !is_ok ? Field("advice", Advice(wanted)) : near;
      item["seen"] = CandidatesOf(sightings);
    }
    text += Field("result", is_ok ? Success(is_tuned) : "failed: " + Printable(reason));
    context_.output().Item(text, item);
    if (finding_.interrupted) return ExitCodeOfSignal(interrupts_.signal_number());
    return is_ok ? ExitCode::kOk : ExitCode::kFailed;
  }

  static nlohmann::ordered_json CandidatesOf(const std::vector<MetricSighting>& missing) {
    auto items = nlohmann::ordered_json::array();
    for (const MetricSighting& sighting : missing) {
      for (const MetricSighting::Candidate& candidate : sighting.candidates) {
        items.push_back(
            {{"metric", sighting.metric}, {"seen", candidate.what}, {"entry", candidate.entry}});
      }
    }
    return items;
  }

  // Whether the program ran well and only failed to report its objective.
  bool HasEndedWell() const {
    return finding_.timed_out ||
           (finding_.trial.has_value() && finding_.trial->failure == FailureClass::kNoMetric);
  }

  std::string Success(bool is_tuned) const {
    if (!is_tuned) return "the program ended well";
    return fmt::format("{} is found", FirstObjective(spec_).metric);
  }

  static std::string Advice(const std::string& metric) {
    return fmt::format(
        "print {0}=0.93, or say where it stands: `metrics: {{{0}: {{after: '{0} '}}}}`", metric);
  }

  Context& context_;
  Connection& connection_;
  StudySpec spec_;
  const std::int32_t parallel_;
  const absl::Time deadline_;
  Interrupts interrupts_{Interrupts::Heed::kAll};
  Finding finding_;
  std::optional<GangProgram> gang_;  // Once placed.
  std::optional<absl::Time> seen_;   // When all objectives were first complete.
  nlohmann::ordered_json replicas_ = nlohmann::ordered_json::array();
};

absl::StatusOr<ExitCode> RunCheck(Context& context, const CheckArgs& args) {
  CheckArgs warning = args;
  warning.warns = true;
  return CheckStudy(context, warning);
}

void Warn(Context& context, Connection& connection, const StudySpec& spec) {
  for (const std::string& warning : JobWarningsOf(spec, /*runs_here=*/false)) {
    PrintWarning(context, warning);
  }
  const std::string hint = GpuHint(connection, spec);
  if (!hint.empty()) PrintWarning(context, hint);
}

}  // namespace

void AddCheckOptions(CLI::App& command, CheckArgs& args) {
  command.add_option(
      "--timeout", args.timeout, "Longest time to wait for the objective; default: 10m");
  AddCapacityOptions(command, args.capacity);
}

absl::StatusOr<ExitCode> CheckStudy(Context& context, const CheckArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(StudySpec spec, LoadStudy(args.file));
  if (!spec.job.has_value()) {
    return WithHint(InvalidArgument("study '{}' has no job: there is no program to try", spec.name),
                    "add a job to the file; `vernier study validate` checks the rest of it");
  }
  VERNIER_RETURN_IF_ERROR(ValidateMetricSources(spec));  // For the original study.
  VERNIER_ASSIGN_OR_RETURN(const absl::Duration timeout,
                           ParseDurationFlag("--timeout", args.timeout));
  VERNIER_ASSIGN_OR_RETURN(const base::TemporaryFolder folder, base::TemporaryFolder::Create());
  VERNIER_ASSIGN_OR_RETURN(app::ServerOptions options,
                           EngineOptionsOf(folder.path() + "/store.db", args.capacity));
  options.listen = {app::SocketOrPort(folder.path() + "/socket")};
  std::string directory;
  const auto run = [&]() -> absl::StatusOr<ExitCode> {
    VERNIER_ASSIGN_OR_RETURN(Connection connection, Connection::OpenWithEngine(options));
    VERNIER_RETURN_IF_ERROR(SendCode(connection, spec).status());
    if (args.warns) Warn(context, connection, spec);
    const StudySpec tried = TriedSpec(spec, folder.path());
    // The trial runs without them, but an error in them would end the study at its creation.
    StudySpec created = tried;
    created.stopping = spec.stopping;
    created.convergence = spec.convergence;
    VERNIER_RETURN_IF_ERROR(CreateStudy(connection, created, /*validate_only=*/true).status());
    CheckRun check(context, connection, tried, spec.parallel, timeout);
    absl::StatusOr<ExitCode> code = check.Run();
    directory = check.directory();
    return code;
  };
  absl::StatusOr<ExitCode> code = run();
  ForgetOnClusters(options, directory);
  return code;
}

void AddCheck(CLI::App& root, Action& chosen) {
  auto [command, args] = AddCommand<CheckArgs>(
      root,
      "check",
      "Start one trial of a study file, and see whether its objective is found",
      &RunCheck,
      chosen);
  command->add_option("FILE", args->file, "Study file, YAML or JSON; - for standard input")
      ->required();
  AddCheckOptions(*command, *args);
}

}  // namespace vernier::cli
