#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"

// Addresses that a server listens on: "127.0.0.1:7117", "[::1]:0", "unix:/run/vernier.sock".
namespace vernier::app {

// Whether only programs of this host can reach it.
bool IsLocal(const std::string& address);

// The path of a unix socket that has one; nothing for what any program of the host can connect to.
std::optional<std::string> SocketPathOf(const std::string& address);

// InvalidArgument: a FieldError at "listen": not an address, or one that other hosts reach without `allow_remote`.
absl::Status CheckListenAddress(const std::string& address, bool allow_remote);

// The address with the port that it got: the one asked for may be 0.
std::string WithPort(const std::string& address, int port);

// How this host reaches it: an address of every interface becomes one of the loopback.
std::string ReachableAt(const std::string& address);

}  // namespace vernier::app
