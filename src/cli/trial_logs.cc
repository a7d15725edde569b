#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/log_text.h"
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

// The replica goes in front where there are several to tell apart, the severity where the line itself says it.
std::string Line(const v1::LogLine& line,
                 bool name_replica,
                 const LogArgs& args,
                 Context& context) {
  std::string head;
  if (args.timestamps) {
    head += absl::FormatTime("%H:%M:%E3S ", wire::DecodeTime(line.time()), context.zone());
  }
  const bool color = context.console().color;
  if (name_replica) {
    head += Paint(fmt::format("{} {} | ", line.role(), line.index()), Style::kCyan, color);
  }
  const std::string severity =
      line.has_message() ? fmt::format("{:<8} ", SeverityText(line)) : std::string();
  std::vector<std::string> lines;
  for (const std::string_view message : MessageLines(line)) {
    lines.push_back(head + Paint(severity + Printable(message), SeverityStyle(line), color));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

absl::StatusOr<v1::StreamTrialLogsRequest> Request(const LogArgs& args, absl::Time now) {
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
    VERNIER_ASSIGN_OR_RETURN(const absl::Time since, ParseTimeFlag("--since", args.since, now));
    wire::EncodeTime(since, request.mutable_since_time());
  }
  if (!args.until.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const absl::Time until, ParseTimeFlag("--until", args.until, now));
    wire::EncodeTime(until, request.mutable_until_time());
  }
  return request;
}

bool HasSeveralReplicas(const Trial& trial, const LogArgs& args) {
  if (args.index || trial.attempts.empty()) return false;
  return trial.attempts.back().placement.size() > 1;
}

absl::StatusOr<ExitCode> Logs(Context& context, const LogArgs& args) {
  if (args.index && args.role.empty()) {
    return InvalidArgument("--index: {} needs --role to say of which role", *args.index);
  }
  VERNIER_ASSIGN_OR_RETURN(v1::StreamTrialLogsRequest request, Request(args, context.Now()));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, args.study, args.trial));
  request.set_name(trial.message.name());
  // With no server about, nobody records the trial's end, and following would never end either.
  request.set_follow(args.follow && !connection.is_embedded());
  grpc::ClientContext call;
  const auto reader = connection.stub().StreamTrialLogs(&call, request);
  const bool name_replica = HasSeveralReplicas(trial.trial, args);
  v1::LogLine line;
  while (reader->Read(&line)) {
    context.output().StreamItem(Line(line, name_replica, args, context), LogLineToJson(line));
  }
  VERNIER_RETURN_IF_ERROR(wire::DecodeStatus(reader->Finish()));
  return ExitCode::kOk;
}

}  // namespace

void AddTrialLogs(CLI::App& trial, Action& chosen) {
  auto [command, args] =
      AddCommand<LogArgs>(trial, "logs", "Show what a trial's programs printed", &Logs, chosen);
  AddTrialOptions(*command, args->study, args->trial);
  command->add_flag(
      "-f,--follow", args->follow, "Go on until the trial has ended, or the attempt asked for");
  command->add_flag("--timestamps", args->timestamps, "Put the time before each line");
  command->add_option("--role", args->role, "Only this role: chief, worker, ps, evaluator");
  command->add_option("--index", args->index, "Only this replica of the role")->check(AtLeast(0));
  command->add_option("--attempt", args->attempt, "This attempt instead of the last")
      ->check(AtLeast(1));
  command->add_option("--tail", args->tail, "Only the last so many lines of those")
      ->check(AtLeast(1));
  command->add_option("--severity", args->severity, "Only lines of at least this: warning");
  command->add_option(
      "--since", args->since, "Only lines from this time on, or from so long ago: 10m");
  command->add_option("--until", args->until, "Only lines before this time, or so long ago");
}

}  // namespace vernier::cli
