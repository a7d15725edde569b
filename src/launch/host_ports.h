#pragma once

#include <cstdint>

// TCP ports of this host for replicas to listen on, for launchers and for the supervisor: std and POSIX only. They come
// from below the range of outgoing connections, so that none of those takes a port between the time when it is let go
// and the replica's bind.
namespace vernier::launch {

// Number of ports to choose from. A choice: more than gangs on one host need, and it fits below the ephemeral ports.
inline constexpr std::int32_t kReplicaPorts = 12'000;

std::int32_t FirstReplicaPort();

// Where this process begins to look, counted from the first port: processes that run at the same time begin at different
// places.
std::int32_t OffsetOfOwnPorts();

// Returns a socket bound to the port on every address, -1 if it is in use.
int BindPort(std::int32_t port);

}  // namespace vernier::launch
