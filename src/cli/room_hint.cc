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

// Sums of fractions of CPUs are not exact: ten times 0.1 must fit into 1.
constexpr double kTolerance = 1e-9;

// What all replicas of a trial ask for. Parts of devices are left out.
struct Need {
  double cpus = 0;
  double memory_bytes = 0;
  double devices = 0;  // Of any type, those of a named one included.
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

// The dimension in which a host has the least room.
class Tightest {
 public:
  explicit Tightest(std::int64_t parallel) : room_(parallel) {}

  // A trial that needs more than there is was accepted because it is scaled down, which is no matter of room.
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

}  // namespace

std::string RoomHint(const StudySpec& spec, const std::vector<Node>& nodes) {
  if (!spec.job.has_value() || nodes.size() != 1) return "";
  const Node& host = nodes.front();
  const Need need = NeedOf(*spec.job);
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

std::string RoomHint(Connection& connection, const StudySpec& spec) {
  const auto response =
      connection.Call(&Connection::ClusterStub::ListNodes, v1::ListNodesRequest());
  if (!response.ok()) return "";
  std::vector<Node> nodes;
  for (const v1::Node& message : response->nodes()) {
    auto node = wire::DecodeNode(message);
    if (!node.ok()) return "";
    nodes.push_back(*std::move(node));
  }
  return RoomHint(spec, nodes);
}

}  // namespace vernier::cli
