// Commands that read a study's log: watch, wait, export, replay. Watching makes sense only if some process runs the
// study; otherwise the log is shown and an error says that nothing will follow.

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/live_view.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/trial_csv.h"
#include "src/core/status.h"
#include "src/wire/names.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

// Without an owner of the store, the server inside this process runs no engine and keeps others from opening the store:
// waiting would never end.
absl::Status CheckSomebodyRuns(const Connection& connection, const StudyRecord& study) {
  if (!connection.is_embedded() || IsFinished(study.study.state)) return absl::OkStatus();
  const std::string title =
      fmt::format("study '{}' is {}", study.name(), StudyStateName(study.study.state));
  if (!study.study.spec.job.has_value()) {
    return WithHint(
        FailedPrecondition("{}, and no program tunes it at present", title),
        "its trials are those of a program that asks for them, in Python or by a client");
  }
  return WithHint(
      FailedPrecondition("{} and nobody runs it: no server owns the store", title),
      fmt::format("start `vernier server start`, or run it with `vernier run {}`", study.name()));
}

// Reads on the log of a study whose clients share the store by turns, without a server: between two looks the store is theirs.
class Turns {
 public:
  Turns(Context& context, std::string study) : context_(context), study_(std::move(study)) {}

  // Whether to read on, as FollowOptions::on_end. False: the study has ended, or nobody works on it.
  absl::StatusOr<bool> Next(Connection& connection) {
    {
      VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, study_));
      const bool has_moved = study.study.last_event != std::exchange(seen_, study.study.last_event);
      idle_ = has_moved || study.study.open > 0 ? 0 : idle_ + 1;
      if (IsFinished(study.study.state) || idle_ > kMostIdle) return false;
      const Connection given_up = std::move(connection);
    }
    poll(nullptr, 0, kPauseMilliseconds);
    VERNIER_ASSIGN_OR_RETURN(connection, context_.Connect());
    return true;
  }

 private:
  // Choices: as quick as people read, and longer than a program takes from one trial to the next.
  static constexpr int kPauseMilliseconds = 500;
  static constexpr int kMostIdle = 4;

  Context& context_;
  const std::string study_;
  EventSeq seen_;
  int idle_ = 0;  // Looks in which nothing had happened.
};

// Whether clients of the study may work in turns of their own.
bool MayTakeTurns(const Connection& connection, const StudyRecord& study) {
  return connection.is_embedded() && !study.study.spec.job.has_value() &&
         !IsFinished(study.study.state) && study.study.open > 0;
}

struct WatchArgs {
  std::string study;
  std::int64_t after = 0;
  DetailFlags detail;
};

absl::StatusOr<ExitCode> Watch(Context& context, const WatchArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  const absl::Status somebody_runs = CheckSomebodyRuns(connection, study);
  FollowOptions options = {.after = EventSeq(args.after),
                           .detail = DetailOf(args.detail),
                           .follow = somebody_runs.ok(),
                           .on_tick = {}};
  Turns turns(context, args.study);
  if (MayTakeTurns(connection, study)) {
    options.on_end = [&](Connection& current) { return turns.Next(current); };
  }
  VERNIER_ASSIGN_OR_RETURN(const StudyBoard board,
                           Follow(context, connection, args.study, options));
  // After the log so far has been shown.
  if (!somebody_runs.ok() && !IsFinished(board.state())) {
    if (study.study.spec.job.has_value()) return somebody_runs;
    // That is how programs end which tune it themselves: no error.
    context.console().err << fmt::format("vernier: {}\n", std::string(somebody_runs.message()));
    return ExitCode::kOk;
  }
  return ExitCodeOf(board.state());
}

struct WaitArgs {
  std::string study;
  std::string timeout;
};

absl::StatusOr<ExitCode> Wait(Context& context, const WaitArgs& args) {
  // Prints no events, only the end.
  FollowOptions options = {.after = EventSeq(INT64_MAX), .on_tick = {}};
  if (!args.timeout.empty()) {
    VERNIER_ASSIGN_OR_RETURN(options.timeout, ParseDurationFlag("--timeout", args.timeout));
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  Turns turns(context, args.study);
  if (MayTakeTurns(connection, study)) {
    options.follow = false;
    options.on_end = [&](Connection& current) { return turns.Next(current); };
  } else if (!IsFinished(study.study.state)) {
    VERNIER_RETURN_IF_ERROR(CheckSomebodyRuns(connection, study));
  }
  if (!IsFinished(study.study.state)) {
    VERNIER_RETURN_IF_ERROR(Follow(context, connection, args.study, options).status());
  }
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord ended, GetStudy(connection, args.study));
  VERNIER_RETURN_IF_ERROR(CheckSomebodyRuns(connection, ended));
  context.output().Item(fmt::format("study '{}' is {}: {}\n",
                                    args.study,
                                    StudyStateName(ended.study.state),
                                    ended.study.reason),
                        ProtoToJson(ended.message));
  return ExitCodeOf(ended.study.state);
}

struct ExportArgs {
  std::string study;
  std::string file;
};

// All trials with their measurements.
absl::StatusOr<ordered_json> ExportTrials(Connection& connection,
                                          const std::vector<TrialRecord>& trials) {
  auto items = ordered_json::array();
  for (const TrialRecord& trial : trials) {
    ordered_json item = ProtoToJson(trial.message);
    item["measurements"] = ordered_json::array();
    // A call for each trial, which is spared where it would return nothing.
    if (trial.message.measurement_count() > 0) {
      VERNIER_ASSIGN_OR_RETURN(const auto measurements,
                               ListMeasurements(connection, trial.message));
      for (const v1::Measurement& measurement : measurements) {
        item["measurements"].push_back(ProtoToJson(measurement));
      }
    }
    items.push_back(std::move(item));
  }
  return items;
}

absl::StatusOr<ExitCode> ExportTo(Output& output, Context& context, const ExportArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  if (output.format() == Format::kJsonl) {
    VERNIER_RETURN_IF_ERROR(ReadLog(connection, args.study, [&](const v1::StudyEvent& event) {
      output.console().out << EventToLine(event) << '\n';
      return absl::OkStatus();
    }));
    return ExitCode::kOk;
  }
  if (output.format() == Format::kCsv) {
    VERNIER_RETURN_IF_ERROR(
        WriteTrialCsv(connection, study, {}, output.console().out, output.options().headers));
    return ExitCode::kOk;
  }
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  VERNIER_ASSIGN_OR_RETURN(ordered_json items, ExportTrials(connection, trials));
  output.Item("", {{"study", ProtoToJson(study.message)}, {"trials", std::move(items)}});
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Export(Context& context, const ExportArgs& args) {
  // The default is the event log, which can be read back; a table cannot.
  const Format format = context.output().is_table() ? Format::kJsonl : context.output().format();
  const bool headers = !context.flags().no_headers;
  if (args.file.empty()) {
    Output output(context.console(), {.format = format, .headers = headers});
    return ExportTo(output, context, args);
  }
  std::ofstream file(args.file, std::ios::binary | std::ios::trunc);
  if (!file) {
    return InvalidArgument("--file: '{}' cannot be written: {}", args.file, std::strerror(errno));
  }
  // Not a terminal: no colours, nothing cut.
  Console console = {.out = file, .err = context.console().err};
  Output output(console, {.format = format, .headers = headers});
  VERNIER_ASSIGN_OR_RETURN(const ExitCode code, ExportTo(output, context, args));
  // Closed before the check, so that a full disk is noticed.
  file.close();
  if (!file) return InvalidArgument("--file: '{}' cannot be written", args.file);
  return code;
}

struct ReplayArgs {
  std::string study;
  bool verify = false;
  bool strict = false;
};

std::string_view Word(v1::ReplayStudyResponse::Result result) {
  return result == v1::ReplayStudyResponse::DIVERGED ? "DIVERGED" : "UNVERIFIABLE";
}

std::string ReplayText(const v1::ReplayStudyResponse& report) {
  std::string text;
  for (const auto& line : report.problems()) {
    text += fmt::format("{} trial {} (event {}): {}\n",
                        Word(line.result()),
                        line.trial(),
                        line.event(),
                        line.detail());
  }
  return text + fmt::format("{} of {} decisions verified: {} suggestions, {} stops\n",
                            report.verified(),
                            report.suggestions() + report.stops(),
                            report.suggestions(),
                            report.stops());
}

ExitCode Judge(const v1::ReplayStudyResponse& report, bool strict) {
  for (const auto& line : report.problems()) {
    // A decision that cannot be verified is no failure, unless --strict says so.
    if (strict || line.result() == v1::ReplayStudyResponse::DIVERGED) return ExitCode::kFailed;
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Replay(Context& context, const ReplayArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  if (!args.verify && !args.strict) {
    LiveView view(context, EventSeq(0), Detail::kEvents);
    VERNIER_RETURN_IF_ERROR(ReadLog(
        connection, args.study, [&](const v1::StudyEvent& event) { return view.Print(event); }));
    return ExitCode::kOk;
  }
  v1::ReplayStudyRequest request;
  request.set_name(wire::StudyResource(args.study));
  // Every suggestion is computed again, which may take hours in a long study.
  VERNIER_ASSIGN_OR_RETURN(
      const v1::ReplayStudyResponse report,
      connection.CallOn(args.study, &Connection::Stub::ReplayStudy, request, absl::Hours(24)));
  context.output().Item(ReplayText(report), ProtoToJson(report));
  return Judge(report, args.strict);
}

}  // namespace

void AddStudyWatch(CLI::App& study, Action& chosen) {
  auto [command, args] =
      AddCommand<WatchArgs>(study, "watch", "Follow a study until it ends", &Watch, chosen);
  AddStudyOption(*command, args->study);
  command->add_option("--after", args->after, "Print only events after this sequence number")
      ->check(AtLeast(0));
  AddDetailFlags(*command, args->detail);
}

void AddStudyWait(CLI::App& study, Action& chosen) {
  auto [command, args] =
      AddCommand<WaitArgs>(study,
                           "wait",
                           "Wait until a study ends; exit 1 if it failed or was cancelled",
                           &Wait,
                           chosen);
  AddStudyOption(*command, args->study);
  command->add_option(
      "--timeout", args->timeout, "Give up after this time, e.g. 30m, with exit code 4");
}

void AddStudyExport(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<ExportArgs>(study,
                                                "export",
                                                "Export a study: its events (jsonl, the default), "
                                                "everything (json, yaml) or its trials (csv)",
                                                &Export,
                                                chosen);
  AddStudyOption(*command, args->study);
  command->add_option("--file", args->file, "File to write instead of standard output");
}

void AddStudyReplay(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<ReplayArgs>(
      study,
      "replay",
      "Print the event log of a study, or verify that its decisions can be recomputed",
      &Replay,
      chosen);
  AddStudyOption(*command, args->study);
  command->add_flag("--verify",
                    args->verify,
                    "Recompute every suggestion and early stop, and compare them with the log");
  command->add_flag("--strict",
                    args->strict,
                    "Like --verify, but decisions that cannot be verified count as diverged");
}

}  // namespace vernier::cli
