// Describes rooms and needs in words: the second half of room.h.
#include <map>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/launch/local/room.h"

namespace vernier::launch {
namespace {

std::string Bytes(std::int64_t bytes) {
  constexpr std::pair<const char*, std::int64_t> kUnits[] = {
      {"GiB", std::int64_t{1} << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}};
  for (const auto& [name, size] : kUnits) {
    if (bytes < size) continue;
    return fmt::format("{:.4g} {}", static_cast<double>(bytes) / static_cast<double>(size), name);
  }
  return fmt::format("{} B", bytes);
}

std::string Cpus(double count) { return fmt::format("{:.4g}", count); }

std::string CpusInWords(double count) { return Cpus(count) + (count == 1 ? " cpu" : " cpus"); }

// Number of devices, or of shares of that much memory, by type; those without a type first.
using DeviceCounts = std::map<std::pair<std::string, std::int64_t>, std::int64_t>;

DeviceCounts CountsOf(const GangNeed& need) {
  DeviceCounts counts;
  for (const DeviceAsk& ask : need.devices) counts[{ask.type, ask.memory_bytes}] += ask.count;
  return counts;
}

// "16 T4", "2 gpus", "1 T4 share of 8 GiB".
std::string Devices(std::int64_t count, const std::string& type, std::int64_t memory_bytes) {
  const std::string_view plural = count == 1 ? "" : "s";
  if (memory_bytes > 0) {
    return fmt::format(
        "{} {} share{} of {}", count, type.empty() ? "gpu" : type, plural, Bytes(memory_bytes));
  }
  return type.empty() ? fmt::format("{} gpu{}", count, plural) : fmt::format("{} {}", count, type);
}

// Phrases that say what a room, or the empty host, shortfall.
struct ShortfallText {
  bool is_host = false;
  std::vector<std::string> phrases = {};

  void Add(const std::string& needed, const std::string& available) {
    phrases.push_back(is_host ? fmt::format("needs {}, this host has {}", needed, available)
                              : fmt::format("needs {}, {} free", needed, available));
  }
};

// Adds the devices that cannot be shared because their memory is not known (declared without a size).
void AddUnshareable(const std::string& type, const HostCapacity& host, ShortfallText& shortfall) {
  std::vector<std::string> ids;
  for (const GpuDevice& gpu : host.gpus) {
    if (gpu.memory_bytes == 0 && (type.empty() || gpu.type == type)) ids.push_back(gpu.id);
  }
  if (ids.empty()) return;
  const bool is_one = ids.size() == 1;
  shortfall.phrases.push_back(fmt::format("device{} {} cannot be shared, {} memory is not known",
                                          is_one ? "" : "s",
                                          fmt::join(ids, ", "),
                                          is_one ? "its" : "their"));
}

// REQUIRES: the room lacks devices.
void AddDevices(const GangNeed& need,
                const Room& free,
                const HostCapacity& host,
                ShortfallText& shortfall) {
  const std::size_t before = shortfall.phrases.size();
  for (const auto& [kind, count] : CountsOf(need)) {
    const auto& [type, memory_bytes] = kind;
    const std::int64_t there = free.CountFree(type, memory_bytes);
    if ((type.empty() && memory_bytes == 0) || count <= there) continue;
    shortfall.Add(Devices(count, type, memory_bytes), std::to_string(there));
    if (memory_bytes > 0) AddUnshareable(type, host, shortfall);
  }
  if (shortfall.phrases.size() > before) return;
  const std::int64_t all = free.CountFree("", 0);
  // Requests for any type get the devices that typed requests leave.
  if (need.whole_devices > all) {
    shortfall.Add(Devices(need.whole_devices, "", 0), std::to_string(all));
    return;
  }
  shortfall.phrases.push_back(
      fmt::format("the {} do not suit all of its replicas at once",
                  shortfall.is_host ? "devices of this host" : "free devices"));
}

std::string InWords(const GangNeed& need,
                    const Room& free,
                    const HostCapacity& host,
                    bool is_host) {
  ShortfallText shortfall{.is_host = is_host};
  if (!free.HasCpus(need.cpus)) shortfall.Add(CpusInWords(need.cpus), Cpus(free.cpus()));
  if (need.memory_bytes > free.memory_bytes()) {
    shortfall.Add(Bytes(need.memory_bytes) + " of memory", Bytes(free.memory_bytes()));
  }
  if (!free.HasDevices(need)) AddDevices(need, free, host, shortfall);
  return fmt::format("{}", fmt::join(shortfall.phrases, "; "));
}

}  // namespace

std::string Shortfall(const GangNeed& need, const Room& free, const HostCapacity& host) {
  return InWords(need, free, host, /*is_host=*/false);
}

std::string Shortfall(const GangNeed& need, const HostCapacity& host) {
  return InWords(need, Room(host), host, /*is_host=*/true);
}

std::string Describe(const GangNeed& need) {
  std::vector<std::string> parts;
  if (need.cpus > 0) parts.push_back(CpusInWords(need.cpus));
  if (need.memory_bytes > 0) parts.push_back(Bytes(need.memory_bytes) + " of memory");
  for (const auto& [kind, count] : CountsOf(need)) {
    parts.push_back(Devices(count, kind.first, kind.second));
  }
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace vernier::launch
