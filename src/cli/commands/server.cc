// `server start` is vernierd in the foreground, without a configuration file; `server status` asks a running one.

#include "src/app/server.h"

#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/configuration.h"
#include "src/app/paths.h"
#include "src/base/log.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/interrupts.h"
#include "src/cli/runner.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/terminal/table.h"
#include "src/core/status.h"
#include "src/wire/names.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

struct StartArgs {
  app::Configuration access;
  CapacityFlags capacity;
};

absl::StatusOr<ExitCode> Start(Context& context, const StartArgs& args) {
  if (!context.flags().server.empty()) {
    return InvalidArgument("--server: a server is started on a store, not through {}; use --listen",
                           context.flags().server);
  }
  VERNIER_ASSIGN_OR_RETURN(app::ServerOptions options,
                           EngineOptionsOf(context.Store(), args.capacity));
  VERNIER_RETURN_IF_ERROR(app::ApplyAccess(args.access, options));
  VERNIER_RETURN_IF_ERROR(app::CreateStoreFolder(options.store));
  // In the foreground its log is wanted; main() has restricted it to errors.
  base::SetLogLevel(base::LogLevel::kInfo);
  // Before the server starts, so that Ctrl-C during the start ends it in order.
  Interrupts interrupts;
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<app::Server> server, app::Server::Start(options));
  for (const std::string& address : server->addresses()) {
    context.output().Say(fmt::format("listening on {}", address));
  }
  context.output().Say(fmt::format("store {}; Ctrl-C stops, trials that run go on", options.store));
  while (interrupts.count() == 0) interrupts.Wait(absl::InfiniteDuration());
  server->Shutdown();
  return ExitCode::kOk;
}

struct StatusArgs {};

// "0.4 ms", "12 ms", "3.2 s".
std::string FormatMoments(const google::protobuf::Duration& duration) {
  const double milliseconds = absl::ToDoubleMilliseconds(wire::DecodeDuration(duration));
  if (milliseconds < 10) return fmt::format("{:.1f} ms", milliseconds);
  if (milliseconds < 1000) return fmt::format("{:.0f} ms", milliseconds);
  return fmt::format("{:.1f} s", milliseconds / 1000);
}

// Durations of the last five minutes; only operations that occurred.
std::string TimesText(const v1::ServerInfo& info, const Console& console) {
  Table table({{.name = "IN 5 MINUTES"},
               {.name = "COUNT", .align = Align::kRight},
               {.name = "MEAN", .align = Align::kRight},
               {.name = "LONGEST", .align = Align::kRight}});
  bool is_idle = true;
  const auto add = [&](const char* what, const v1::Durations& durations) {
    if (durations.count() == 0) return;
    is_idle = false;
    table.AddRow({{what},
                  {std::to_string(durations.count())},
                  {FormatMoments(durations.mean())},
                  {FormatMoments(durations.longest())}});
  };
  add("suggestions", info.suggestions());
  add("commits", info.commits());
  add("loop steps", info.steps());
  add("loop delays", info.step_delays());
  if (is_idle) return "";
  std::string text = "\n";
  for (const std::string& line :
       table.Lines({.width = console.width, .color = console.color, .cut = console.is_terminal})) {
    text += line + "\n";
  }
  return text;
}

std::string DisksText(const v1::ServerInfo& info) {
  std::string text;
  for (const v1::Disk& disk : info.disks()) {
    text += fmt::format("{:<12}{} of {} free, {}\n",
                        text.empty() ? "disk" : "",
                        FormatBytes(disk.free_bytes()),
                        FormatBytes(disk.total_bytes()),
                        fmt::join(disk.users(), " and "));
  }
  return text;
}

absl::StatusOr<ExitCode> Status(Context& context, const StatusArgs&) {
  // Otherwise a server inside this process would answer about itself.
  if (context.flags().server.empty() && !app::FindStoreOwner(context.Store())) {
    return WithHint(Unavailable("no server owns the store {}", context.Store()),
                    "`vernier server start` starts one");
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(
      const v1::ServerInfo info,
      connection.Call(&Connection::Stub::GetServerInfo, v1::GetServerInfoRequest()));
  const absl::Duration up = context.Now() - wire::DecodeTime(info.start_time());
  std::string troubles;
  for (const v1::StudyTrouble& trouble : info.troubles()) {
    const auto name = wire::ParseStudyName("study", trouble.study());
    troubles += fmt::format("trouble     study '{}' does not move, and is tried again: {}\n",
                            name.value_or(trouble.study()),
                            trouble.error());
  }
  if (!info.held().empty()) troubles += fmt::format("waiting     {}\n", info.held());
  context.output().Item(fmt::format("version     {}\n"
                                    "process     {}, up {}, {}\n"
                                    "store       {}\n"
                                    "studies     {}\n"
                                    "open        {} trial{}\n{}{}{}",
                                    info.version(),
                                    info.process_id(),
                                    FormatElapsed(up),
                                    FormatBytes(info.resident_bytes()),
                                    info.store(),
                                    info.studies(),
                                    info.running_trials(),
                                    info.running_trials() == 1 ? "" : "s",
                                    DisksText(info),
                                    troubles,
                                    TimesText(info, context.console())),
                        ProtoToJson(info));
  return ExitCode::kOk;
}

}  // namespace

void AddServerCommands(CLI::App& root, Action& chosen) {
  CLI::App* server =
      root.add_subcommand("server", "Start a server, show its state, and maintain its store");
  server->require_subcommand(1);
  auto [start, args] = AddCommand<StartArgs>(
      *server, "start", "Start a server in the foreground, as vernierd does", &Start, chosen);
  start
      ->add_option("--listen",
                   args->access.listen,
                   "Address to listen on: HOST:PORT (port 0: any free one) or unix:PATH (default: "
                   "unix:STORE.sock)")
      ->allow_extra_args(false);
  app::DeclareAccess(args->access, *start);
  AddCapacityOptions(*start, args->capacity);
  AddCommand<StatusArgs>(
      *server, "status", "Show the state of the running server", &Status, chosen);
  AddStoreCommands(*server, chosen);
  AddCleanCommand(*server, chosen);
}

}  // namespace vernier::cli
