#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"

// Addresses that a server listens on: "127.0.0.1:7117", "[::1]:0", "unix:/run/vernier.sock".
namespace vernier::app {

// Of the path of a unix socket: sun_path has 108 bytes on Linux, its terminating zero included (unix(7)).
inline constexpr std::size_t kLongestSocketPath = 107;

// Whether only programs of this host can reach the address.
bool IsLocal(const std::string& address);

// The path of a unix socket in the file system; nothing for addresses that any program of the host can connect to.
std::optional<std::string> SocketPathOf(const std::string& address);

// The address of a socket at `path`, or a free port of loopback if the path is too long for a socket.
std::string SocketOrPort(const std::string& path);

// Checks an address.  InvalidArgument: a FieldError at "listen": it is malformed, or other hosts reach it without
// `allow_remote`.
absl::Status CheckListenAddress(const std::string& address, bool allow_remote);

// The address with the actual port: the one given may be 0.
std::string WithPort(const std::string& address, int port);

// The address by which this host reaches it: an address of all interfaces becomes loopback.
std::string ReachableAt(const std::string& address);

}  // namespace vernier::app
