#include "src/app/server.h"

#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "src/app/paths.h"
#include "src/base/log.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/hint.h"
#include "src/cli/interrupts.h"
#include "src/cli/runner.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/core/status.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

struct StartArgs {
  std::vector<std::string> listen = {"127.0.0.1:7117"};
  bool allow_remote = false;
  CapacityFlags capacity;
};

absl::StatusOr<ExitCode> Start(Context& context, const StartArgs& args) {
  if (!context.flags().server.empty()) {
    return InvalidArgument("--server: a server is started on a store, not through {}; use --listen",
                           context.flags().server);
  }
  VERNIER_ASSIGN_OR_RETURN(app::ServerOptions options,
                           EngineOptionsOf(context.Store(), args.capacity));
  options.listen = args.listen;
  options.allow_remote = args.allow_remote;
  VERNIER_RETURN_IF_ERROR(app::CreateStoreFolder(options.store));
  base::SetLogLevel(base::LogLevel::kInfo);
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

absl::StatusOr<ExitCode> Status(Context& context, const StatusArgs&) {
  // A server that this process would start to answer itself is no answer.
  if (context.flags().server.empty() && !app::FindStoreOwner(context.Store())) {
    return WithHint(Unavailable("no server owns the store {}", context.Store()),
                    "`vernier server start` starts one");
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(
      const v1::ServerInfo info,
      connection.Call(&Connection::Stub::GetServerInfo, v1::GetServerInfoRequest()));
  const absl::Duration up = context.Now() - wire::DecodeTime(info.start_time());
  context.output().Item(fmt::format("version     {}\n"
                                    "process     {}, up {}, {}\n"
                                    "store       {}\n"
                                    "studies     {}\n"
                                    "running     {} trial{}\n",
                                    info.version(),
                                    info.process_id(),
                                    FormatElapsed(up),
                                    FormatBytes(info.resident_bytes()),
                                    info.store(),
                                    info.studies(),
                                    info.running_trials(),
                                    info.running_trials() == 1 ? "" : "s"),
                        ProtoToJson(info));
  return ExitCode::kOk;
}

}  // namespace

void AddServerCommands(CLI::App& root, Action& chosen) {
  CLI::App* server = root.add_subcommand("server", "Start a server, or ask one how it is");
  server->require_subcommand(1);
  auto [start, args] = AddCommand<StartArgs>(
      *server, "start", "Start a server in the foreground, as vernierd does", &Start, chosen);
  start
      ->add_option("--listen",
                   args->listen,
                   "Address to listen on: HOST:PORT (port 0: any free one) or unix:PATH (default: "
                   "127.0.0.1:7117)")
      ->allow_extra_args(false);
  start->add_flag("--allow-remote",
                  args->allow_remote,
                  "Allow addresses that other hosts can reach; calls are not encrypted");
  AddCapacityOptions(*start, args->capacity);
  AddCommand<StatusArgs>(
      *server, "status", "Show the state of the running server", &Status, chosen);
}

}  // namespace vernier::cli
