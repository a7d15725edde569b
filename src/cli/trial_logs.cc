#include <optional>
#include <string>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/terminal/text.h"
#include "src/core/status.h"
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
};

// The replica goes in front where there are several to tell apart.
std::string Line(const v1::LogLine& line,
                 bool name_replica,
                 const LogArgs& args,
                 Context& context) {
  std::string text;
  if (args.timestamps) {
    text += absl::FormatTime("%H:%M:%E3S ", wire::DecodeTime(line.time()), context.zone());
  }
  if (name_replica) {
    text += Paint(
        fmt::format("{} {} | ", line.role(), line.index()), Style::kCyan, context.console().color);
  }
  const std::string printable = Printable(line.text());
  return text +
         (line.is_stderr() ? Paint(printable, Style::kYellow, context.console().color) : printable);
}

bool HasSeveralReplicas(const Trial& trial, const LogArgs& args) {
  if (args.index || trial.attempts.empty()) return false;
  return trial.attempts.back().placement.size() > 1;
}

absl::StatusOr<ExitCode> Logs(Context& context, const LogArgs& args) {
  if (args.index && args.role.empty()) {
    return InvalidArgument("--index: {} needs --role to say of which role", *args.index);
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, args.study, args.trial));
  v1::StreamTrialLogsRequest request;
  request.set_name(trial.message.name());
  // With no server about, nobody records the trial's end, and following would never end either.
  request.set_follow(args.follow && !connection.is_embedded());
  request.set_attempt(args.attempt);
  request.set_role(args.role);
  if (args.index) request.set_index(*args.index);
  request.set_tail(args.tail);
  grpc::ClientContext call;
  const auto reader = connection.stub().StreamTrialLogs(&call, request);
  const bool name_replica = HasSeveralReplicas(trial.trial, args);
  v1::LogLine line;
  while (reader->Read(&line)) {
    context.output().StreamItem(Line(line, name_replica, args, context), ProtoToJson(line));
  }
  VERNIER_RETURN_IF_ERROR(wire::DecodeStatus(reader->Finish()));
  return ExitCode::kOk;
}

}  // namespace

void AddTrialLogs(CLI::App& trial, Action& chosen) {
  auto [command, args] =
      AddCommand<LogArgs>(trial, "logs", "Show what a trial's programs printed", &Logs, chosen);
  AddTrialOptions(*command, args->study, args->trial);
  command->add_flag("-f,--follow", args->follow, "Go on until the trial has ended");
  command->add_flag("--timestamps", args->timestamps, "Put the time before each line");
  command->add_option("--role", args->role, "Only this role: chief, worker, ps, evaluator");
  command->add_option("--index", args->index, "Only this replica of the role")->check(AtLeast(0));
  command->add_option("--attempt", args->attempt, "This attempt instead of the last")
      ->check(AtLeast(1));
  command->add_option("--tail", args->tail, "Only the last so many lines")->check(AtLeast(1));
}

}  // namespace vernier::cli
