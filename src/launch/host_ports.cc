#include "src/launch/host_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

// Ports below are privileged (ip(7)).
constexpr std::int32_t kLowest = 1'024;
// Linux's default start of ip_local_port_range (Documentation/networking/ip-sysctl.rst).
constexpr std::int32_t kUsualEphemeral = 32'768;
// A prime, so that consecutive process ids begin far from each other.
constexpr std::int64_t kStride = 7'919;

}  // namespace

std::int32_t FirstReplicaPort() {
  const std::string range = ReadWholeFile("/proc/sys/net/ipv4/ip_local_port_range").value_or("");
  std::int32_t ephemeral = 0;
  std::from_chars(range.data(), range.data() + range.size(), ephemeral);
  // If the host leaves no room below its range, the usual range is used, which overlaps it.
  return (ephemeral > kLowest + kReplicaPorts ? ephemeral : kUsualEphemeral) - kReplicaPorts;
}

std::int32_t OffsetOfOwnPorts() {
  return static_cast<std::int32_t>(std::int64_t{getpid()} * kStride % kReplicaPorts);
}

// Without SO_REUSEADDR, which would also succeed for a port with connections in TIME_WAIT that a program without that
// option could not bind.
int BindPort(std::int32_t port) {
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

}  // namespace vernier::launch
