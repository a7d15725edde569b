#include "src/cli/room_hint.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/wire/cluster_proto.h"

namespace vernier::cli {
namespace {

// Sums of fractions are inexact: ten times 0.1 CPUs must fit into 1.
constexpr double kTolerance = 1e-9;

// Total resources of one trial. Shares of a device are left out: how many fit on one is the launcher's decision.
struct Need {
  double cpus = 0;
  double memory_bytes = 0;
  double devices = 0;  // Of any type, named ones included.
  std::map<std::string, double> of_type;
};

Need NeedOf(const TrainingJob& job) {
  Need need;
  for (const auto& [role, replica] : job.replicas) {
    const Resources& asked = replica.resources;
    const double count = replica.count;
    need.cpus += count * asked.cpus;
    need.memory_bytes += count * static_cast<double>(asked.memory_bytes);
    if (asked.gpu_memory_bytes > 0) continue;
    need.devices += count * asked.gpus;
    if (!asked.gpu_type.empty()) need.of_type[asked.gpu_type] += count * asked.gpus;
  }
  return need;
}

// Finds the resource of which the fewest trials fit.
class Tightest {
 public:
  explicit Tightest(std::int64_t parallel) : room_(parallel) {}

  // A trial that needs more than the host has was accepted only because it is scaled down; then room is no question.
  void Consider(double need, double has, std::string needs, std::string what) {
    if (need <= 0 || need > has + kTolerance) return;
    const auto room = static_cast<std::int64_t>(std::floor(has / need + kTolerance));
    if (room >= room_) return;
    room_ = room;
    text_ = fmt::format("room for {}: each trial needs {}, the host has {}", room, needs, what);
  }

  const std::string& text() const { return text_; }

 private:
  std::int64_t room_;
  std::string text_;
};

// Empty if the server cannot be asked.
std::vector<Node> NodesOf(Connection& connection) {
  const auto response =
      connection.Call(&Connection::ClusterStub::ListNodes, v1::ListNodesRequest());
  std::vector<Node> nodes;
  if (!response.ok()) return nodes;
  for (const v1::Node& message : response->nodes()) {
    auto node = wire::DecodeNode(message);
    if (!node.ok()) return {};
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

}  // namespace

std::string RoomHint(const StudySpec& spec, const std::vector<Node>& nodes) {
  // How trials fit on several nodes depends on where the server places their replicas.
  if (!spec.job.has_value() || nodes.size() != 1) return "";
  const Node& host = nodes.front();
  const Need need = NeedOf(*spec.job);
  // A budget of fewer trials never runs more at once.
  const std::int64_t parallel =
      std::min<std::int64_t>(spec.parallel, spec.budget.trials.value_or(spec.parallel));
  Tightest tightest(parallel);
  tightest.Consider(need.cpus,
                    host.cpus,
                    FormatCompact(need.cpus) + (need.cpus == 1 ? " cpu" : " cpus"),
                    FormatCompact(host.cpus));
  tightest.Consider(need.memory_bytes,
                    static_cast<double>(host.memory_bytes),
                    FormatBytes(static_cast<std::int64_t>(need.memory_bytes)) + " of memory",
                    FormatBytes(host.memory_bytes));
  double devices = 0;
  for (const NodeDevices& kind : host.devices) {
    devices += static_cast<double>(kind.count);
    const auto asked = need.of_type.find(kind.type);
    if (asked == need.of_type.end()) continue;
    tightest.Consider(asked->second,
                      static_cast<double>(kind.count),
                      fmt::format("{} {}", asked->second, kind.type),
                      std::to_string(kind.count));
  }
  tightest.Consider(need.devices,
                    devices,
                    fmt::format("{} gpu{}", need.devices, need.devices == 1 ? "" : "s"),
                    fmt::format("{}", devices));
  if (tightest.text().empty()) return "";
  return fmt::format("{} at a time asked, {}", parallel, tightest.text());
}

std::string GpuHint(const StudySpec& spec, const std::vector<Node>& nodes) {
  if (!spec.job.has_value() || spec.job->input.has_value()) return "";
  const bool chooses = std::ranges::any_of(spec.job->replicas, [](const auto& entry) {
    return entry.second.resources.gpus > 0 || !entry.second.machine_type.empty();
  });
  if (chooses) return "";
  std::int64_t devices = 0;
  for (const Node& node : nodes) {
    for (const NodeDevices& kind : node.devices) devices += kind.count;
  }
  if (devices == 0) return "";
  return fmt::format(
      "job: it asks for no GPU, so its programs do not see the {} here; write `replicas: {{{}: "
      "{{gpus: 1}}}}` in the job to give each trial one",
      devices == 1 ? "GPU" : fmt::format("{} GPUs", devices),
      spec.job->primary_name);
}

std::string GpuHint(Connection& connection, const StudySpec& spec) {
  return GpuHint(spec, NodesOf(connection));
}

std::string RoomHint(Connection& connection, const StudySpec& spec) {
  const std::vector<Node> nodes = NodesOf(connection);
  std::string text = RoomHint(spec, nodes);
  const std::string gpus = GpuHint(spec, nodes);
  if (!gpus.empty()) text += (text.empty() ? "warning: " : "\nwarning: ") + gpus;
  return text;
}

}  // namespace vernier::cli
