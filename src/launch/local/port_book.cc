#include "src/launch/local/port_book.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "src/core/status.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

// Number of ports to choose from. A choice: more than gangs on one host need, and it fits below the ephemeral ports.
constexpr std::int32_t kRange = 12'000;
// Ports below are privileged (ip(7)).
constexpr std::int32_t kLowest = 1'024;
constexpr std::int32_t kHighest = 65'535;
// Linux's default start of ip_local_port_range (Documentation/networking/ip-sysctl.rst).
constexpr std::int32_t kUsualEphemeral = 32'768;

// The first port of outgoing connections.
std::int32_t FirstEphemeralPort() {
  const std::string range = ReadWholeFile("/proc/sys/net/ipv4/ip_local_port_range").value_or("");
  std::int32_t first = 0;
  std::from_chars(range.data(), range.data() + range.size(), first);
  // If the host leaves no room below its range, the usual range is used, which overlaps it.
  return first > kLowest + kRange ? first : kUsualEphemeral;
}

// Returns a socket bound to the port on every address, -1 if it is in use. Without SO_REUSEADDR, which would also
// succeed for a port with connections in TIME_WAIT that a program without that option could not bind.
int Bind(std::int32_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

PortBook::PortBook(std::optional<std::int32_t> first)
    : first_(first.value_or(FirstEphemeralPort() - kRange)),
      last_(std::min(first_ + kRange - 1, kHighest)),
      next_(first_) {
  // Processes that run at the same time start at different places; the prime spreads consecutive process ids.
  if (!first) next_ += static_cast<std::int32_t>((std::int64_t{getpid()} * 7919) % kRange);
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
    const int fd = Bind(port);
    if (fd < 0) continue;
    taken_[port] = fd;
    ports.push_back(port);
  }
  if (ports.size() == count) return ports;
  for (const std::int32_t port : ports) Free(port);
  return ResourceExhausted("needs {} ports, {} free", count, ports.size());
}

void PortBook::Adopt(std::int32_t port) { taken_.try_emplace(port, Bind(port)); }

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
