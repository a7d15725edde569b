// `node list` and `queue list`: machines, and the trials that wait for them. Without a server both answer for the idle
// host.
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/trial_text.h"
#include "src/wire/cluster_proto.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

// "1/2 T4, 4/4 gpus": how many of each type are free.
std::string DevicesText(const Node& node) {
  std::vector<std::string> kinds;
  for (const NodeDevices& kind : node.devices) {
    kinds.push_back(fmt::format("{}/{} {}{}",
                                kind.free,
                                kind.count,
                                kind.type.empty() ? "gpus" : kind.type,
                                kind.shared > 0 ? fmt::format(" ({} shared)", kind.shared) : ""));
  }
  return kinds.empty() ? "-" : fmt::format("{}", fmt::join(kinds, ", "));
}

ordered_json NodeCsvRow(const Node& node) {
  ordered_json row = {{"name", node.name},
                      {"cpus", node.cpus},
                      {"free_cpus", node.free_cpus},
                      {"memory_bytes", node.memory_bytes},
                      {"free_memory_bytes", node.free_memory_bytes}};
  for (const NodeDevices& kind : node.devices) {
    const std::string type = kind.type.empty() ? "gpu" : kind.type;
    row[type] = kind.count;
    row["free_" + type] = kind.free;
  }
  return row;
}

struct NodeListArgs {};

absl::StatusOr<ExitCode> ListNodes(Context& context, const NodeListArgs&) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect(MissingStore::kDoWithout));
  VERNIER_ASSIGN_OR_RETURN(
      const v1::ListNodesResponse response,
      connection.Call(&Connection::ClusterStub::ListNodes, v1::ListNodesRequest()));
  Table table({{.name = "NODE", .flexible = true},
               {.name = "CPUS", .align = Align::kRight},
               {.name = "FREE", .align = Align::kRight},
               {.name = "MEMORY", .align = Align::kRight},
               {.name = "FREE", .align = Align::kRight},
               {.name = "DEVICES FREE", .flexible = true}});
  auto items = ordered_json::array();
  auto rows = ordered_json::array();
  for (const v1::Node& message : response.nodes()) {
    VERNIER_ASSIGN_OR_RETURN(const Node node, wire::DecodeNode(message));
    table.AddRow({{node.name, Style::kBold},
                  {FormatCompact(node.cpus)},
                  {FormatCompact(node.free_cpus)},
                  {FormatBytes(node.memory_bytes)},
                  {FormatBytes(node.free_memory_bytes)},
                  {DevicesText(node)}});
    items.push_back(ProtoToJson(message));
    rows.push_back(NodeCsvRow(node));
  }
  context.output().List(table, items, rows);
  return ExitCode::kOk;
}

struct QueueListArgs {};

absl::StatusOr<ExitCode> ListQueue(Context& context, const QueueListArgs&) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect(MissingStore::kDoWithout));
  VERNIER_ASSIGN_OR_RETURN(
      const v1::ListQueueResponse response,
      connection.Call(&Connection::ClusterStub::ListQueue, v1::ListQueueRequest()));
  Table table({{.name = "POSITION", .align = Align::kRight},
               {.name = "STUDY", .flexible = true},
               {.name = "TRIAL", .align = Align::kRight},
               {.name = "PRIORITY", .align = Align::kRight},
               {.name = "WAITING", .align = Align::kRight},
               {.name = "NEEDS", .flexible = true, .wraps = true},
               {.name = "REASON", .flexible = true, .wraps = true}});
  auto items = ordered_json::array();
  for (const v1::QueuedTrial& message : response.trials()) {
    VERNIER_ASSIGN_OR_RETURN(const QueuedGang gang, wire::DecodeQueuedGang(message));
    table.AddRow({{std::to_string(message.position())},
                  {gang.study, Style::kBold},
                  {std::to_string(gang.id.trial.number.value())},
                  {std::to_string(gang.priority)},
                  {FormatElapsed(context.Now() - gang.queued)},
                  {gang.needs},
                  {DescribeWait(gang, context.Now())}});
    items.push_back(ProtoToJson(message));
  }
  // On standard error, so that programs get an empty list.
  if (response.trials().empty()) {
    context.console().err << (connection.is_embedded()
                                  ? "nothing waits: no server runs the trials of this store\n"
                                  : "nothing waits for room\n");
  }
  context.output().List(table, items);
  return ExitCode::kOk;
}

}  // namespace

void AddNodeCommands(CLI::App& root, Action& chosen) {
  CLI::App* node = root.add_subcommand("node", "Show the machines that trials run on");
  node->require_subcommand(1);
  AddCommand<NodeListArgs>(*node,
                           "list",
                           "List the machines: CPUs, memory, GPUs, and how much of each is free",
                           &ListNodes,
                           chosen);
}

void AddQueueCommands(CLI::App& root, Action& chosen) {
  CLI::App* queue = root.add_subcommand("queue", "Show the trials that wait for resources");
  queue->require_subcommand(1);
  AddCommand<QueueListArgs>(*queue,
                            "list",
                            "List the trials that wait for resources, in order, and why each waits",
                            &ListQueue,
                            chosen);
}

}  // namespace vernier::cli
