// `trial logs` streams lines that the server has merged and filtered. It follows the trial through restarts of the
// server: LogPosition drops lines that a new stream repeats.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/log_position.h"
#include "src/cli/log_text.h"
#include "src/cli/reconnection.h"
#include "src/cli/replica_choice.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/text.h"
#include "src/core/status.h"
#include "src/wire/enum_proto.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

struct LogArgs {
  std::string study;
  std::string trial;
  bool follow = false;
  bool timestamps = false;
  std::string role;
  std::optional<std::int32_t> index;
  std::int64_t attempt = 0;
  std::int64_t tail = 0;
  std::string severity;
  std::string since;
  std::string until;
};

// A line for people: the replica's name if there are several, and the severity if the line itself states it.
std::string PrintedLine(const v1::LogLine& line,
                        bool name_replica,
                        const LogArgs& args,
                        Context& context) {
  std::string head;
  if (args.timestamps) {
    head +=
        absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%Ez ", wire::DecodeTime(line.time()), context.zone());
  }
  const bool color = context.console().color;
  if (name_replica) {
    head += Paint(fmt::format("{} {} | ", line.role(), line.index()), Style::kCyan, color);
  }
  const std::string severity =
      line.has_message() ? fmt::format("{:<8} ", SeverityText(line)) : std::string();
  std::vector<std::string> lines;
  for (const std::string_view message : MessageLines(line)) {
    const std::string text = fmt::format("{}{}", severity, ShownText(message));
    lines.push_back(fmt::format("{}{}", head, Paint(text, SeverityStyle(line), color)));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

absl::StatusOr<v1::StreamTrialLogsRequest> Request(const LogArgs& args,
                                                   absl::Time now,
                                                   absl::TimeZone zone) {
  v1::StreamTrialLogsRequest request;
  request.set_attempt(args.attempt);
  request.set_role(args.role);
  if (args.index) request.set_index(*args.index);
  request.set_tail(args.tail);
  if (!args.severity.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const Severity least, ParseSeverityFlag("--severity", args.severity));
    request.set_min_severity(wire::Encode(least));
  }
  if (!args.since.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const absl::Time since,
                             ParseTimeFlag("--since", args.since, now, zone));
    wire::EncodeTime(since, request.mutable_since_time());
  }
  if (!args.until.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const absl::Time until,
                             ParseTimeFlag("--until", args.until, now, zone));
    wire::EncodeTime(until, request.mutable_until_time());
  }
  return request;
}

bool HasSeveralReplicas(const Trial& trial, const LogArgs& args) {
  if (args.index || trial.attempts.empty()) return false;
  return trial.attempts.back().placement.size() > 1;
}

// Error if no replica matches the options; empty otherwise. Without it, a misspelt role would look like a silent
// replica.
std::string MissingReplica(const StudySpec& spec, const LogArgs& args) {
  if (args.role.empty() || !spec.job || HasReplica(spec, args.role, args.index)) return "";
  const bool has_role = HasReplica(spec, args.role, std::nullopt);
  return fmt::format("{}: study '{}' has {}, got '{}'",
                     has_role ? "--index" : "--role",
                     args.study,
                     DescribeReplicas(spec),
                     has_role ? std::to_string(*args.index) : args.role);
}

// Whether the wanted attempt may still come.
bool IsAwaited(const Trial& trial, const LogArgs& args) {
  return !IsFinished(trial.state) && std::ranges::none_of(trial.attempts, [&](const Attempt& a) {
    return a.number == AttemptNumber(args.attempt);
  });
}

// Waits until the trial has the wanted attempt, or has ended. Blocking reads suffice: Ctrl-C ends the process, and
// nothing has to be cleaned up.
absl::StatusOr<TrialRecord> AwaitAttempt(Context& context,
                                         Connection& connection,
                                         const LogArgs& args) {
  while (true) {
    // The study is read before its trial, so that no event between the two is missed.
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
    VERNIER_ASSIGN_OR_RETURN(TrialRecord trial, GetTrial(connection, args.study, args.trial));
    if (!IsAwaited(trial.trial, args)) return trial;
    v1::WatchStudyRequest request;
    request.set_name(study.message.name());
    request.set_after_event(study.study.last_event.value());
    request.set_follow(true);
    grpc::ClientContext call;
    const auto events = connection.stub().WatchStudy(&call, request);
    v1::StudyEvent event;
    while (events->Read(&event)) {
      if (event.trial() != trial.trial.number.value()) continue;
      VERNIER_ASSIGN_OR_RETURN(
          trial, GetTrial(connection, args.study, std::to_string(trial.trial.number.value())));
      if (IsAwaited(trial.trial, args)) continue;
      call.TryCancel();
      return trial;
    }
    const absl::Status ended = connection.Explain(wire::DecodeStatus(events->Finish()));
    if (!IsConnectionLost(ended, connection)) {
      VERNIER_RETURN_IF_ERROR(ended);
      return trial;
    }
    VERNIER_RETURN_IF_ERROR(Reconnect(context, connection, absl::InfiniteFuture()));
  }
}

// Prints the requested lines. If they are followed and the server ends, continues with the next server.
absl::Status PrintLines(Context& context,
                        Connection& connection,
                        v1::StreamTrialLogsRequest request,
                        const std::function<void(const v1::LogLine&)>& print) {
  LogPosition position;
  while (true) {
    grpc::ClientContext call;
    const auto reader = connection.stub().StreamTrialLogs(&call, request);
    v1::LogLine line;
    while (reader->Read(&line)) {
      if (position.Pass(line)) print(line);
    }
    absl::Status ended = connection.Explain(wire::DecodeStatus(reader->Finish()));
    if (!request.follow() || !IsConnectionLost(ended, connection)) return ended;
    VERNIER_RETURN_IF_ERROR(Reconnect(context, connection, absl::InfiniteFuture()));
    position.Resume(request);
  }
}

absl::StatusOr<ExitCode> Logs(Context& context, const LogArgs& args) {
  if (args.index && args.role.empty()) {
    return InvalidArgument("--index: {} needs --role to say of which role", *args.index);
  }
  VERNIER_ASSIGN_OR_RETURN(v1::StreamTrialLogsRequest request,
                           Request(args, context.Now(), context.zone()));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  if (const std::string missing = MissingReplica(study.study.spec, args); !missing.empty()) {
    context.console().err << fmt::format("vernier: {}\n", missing);
    return ExitCode::kFailed;
  }
  // Without a server nobody records the trial's end, so following would never end.
  const bool follow = args.follow && !connection.is_embedded();
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial,
                           follow&& args.attempt > 0
                               ? AwaitAttempt(context, connection, args)
                               : GetTrial(connection, args.study, args.trial));
  request.set_name(trial.message.name());
  request.set_follow(follow);
  const bool name_replica = HasSeveralReplicas(trial.trial, args);
  VERNIER_RETURN_IF_ERROR(
      PrintLines(context, connection, std::move(request), [&](const v1::LogLine& line) {
        context.output().StreamItem(PrintedLine(line, name_replica, args, context),
                                    LogLineToJson(line));
      }));
  return ExitCode::kOk;
}

}  // namespace

void AddTrialLogs(CLI::App& trial, Action& chosen) {
  auto [command, args] =
      AddCommand<LogArgs>(trial, "logs", "Print the output of a trial's programs", &Logs, chosen);
  AddTrialOptions(*command, args->study, args->trial);
  command->add_flag("-f,--follow",
                    args->follow,
                    "Follow the output until the trial, or the chosen attempt, ends");
  command->add_flag("--timestamps", args->timestamps, "Print the time before each line");
  command->add_option(
      "--role", args->role, "Only replicas of this role: chief, worker, ps or evaluator");
  command->add_option("--index", args->index, "Only the replica with this index")
      ->check(AtLeast(0));
  command->add_option("--attempt", args->attempt, "Attempt to show (default: the last)")
      ->check(AtLeast(1));
  command->add_option("--tail", args->tail, "Only the last N lines")->check(AtLeast(1));
  command->add_option(
      "--severity", args->severity, "Only lines of at least this severity, e.g. warning");
  command->add_option("--since",
                      args->since,
                      "Only lines since a time: 10m (ago), 01:29 (today) or 2026-11-21T04:12");
  command->add_option("--until", args->until, "Only lines before a time, written as for --since");
}

}  // namespace vernier::cli
