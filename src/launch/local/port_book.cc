#include "src/launch/local/port_book.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "src/core/status.h"
#include "src/launch/host_ports.h"

namespace vernier::launch {
namespace {

constexpr std::int32_t kHighest = 65'535;

}  // namespace

PortBook::PortBook(std::optional<std::int32_t> first)
    : first_(first.value_or(FirstReplicaPort())),
      last_(std::min(first_ + kReplicaPorts - 1, kHighest)),
      next_(first_) {
  if (!first) next_ += OffsetOfOwnPorts();
}

PortBook::~PortBook() {
  for (const auto& [port, fd] : taken_) {
    if (fd >= 0) close(fd);
  }
}

std::int32_t PortBook::Next() {
  const std::int32_t port = next_;
  next_ = next_ == last_ ? first_ : next_ + 1;
  return port;
}

absl::StatusOr<std::vector<std::int32_t>> PortBook::Reserve(std::size_t count) {
  const std::int32_t range = last_ - first_ + 1;
  if (std::cmp_greater(count, range)) {
    return ResourceExhausted("needs {} ports, there are {}", count, range);
  }
  std::vector<std::int32_t> ports;
  for (std::int32_t tried = 0; tried < range && ports.size() < count; ++tried) {
    const std::int32_t port = Next();
    if (taken_.contains(port)) continue;
    const int fd = BindPort(port);
    if (fd < 0) continue;
    taken_[port] = fd;
    ports.push_back(port);
  }
  if (ports.size() == count) return ports;
  for (const std::int32_t port : ports) Free(port);
  return ResourceExhausted("needs {} ports, {} free", count, ports.size());
}

void PortBook::Adopt(std::int32_t port) { taken_.try_emplace(port, BindPort(port)); }

void PortBook::AdoptStarted(std::int32_t port) { taken_.try_emplace(port, -1); }

void PortBook::Unbind(std::int32_t port) {
  const auto taken = taken_.find(port);
  if (taken == taken_.end() || taken->second < 0) return;
  close(taken->second);
  taken->second = -1;
}

void PortBook::Free(std::int32_t port) {
  Unbind(port);
  taken_.erase(port);
}

}  // namespace vernier::launch
