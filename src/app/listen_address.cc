#include "src/app/listen_address.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "fmt/format.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

constexpr std::string_view kUnix = "unix:";

struct HostPort {
  std::string_view host;  // Without brackets.
  int port = 0;
};

bool IsUnix(std::string_view address) {
  return address.starts_with(kUnix) || address.starts_with("unix-abstract:");
}

std::optional<HostPort> Split(std::string_view address) {
  // From the right: an IPv6 address has colons of its own.
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  HostPort split{.host = address.substr(0, colon)};
  const std::string_view port = address.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), split.port);
  const bool is_number = error == std::errc() && end == port.data() + port.size();
  if (!is_number || split.port < 0 || split.port > 65535) return std::nullopt;
  const bool bracketed = split.host.starts_with('[') && split.host.ends_with(']');
  if (bracketed) split.host = split.host.substr(1, split.host.size() - 2);
  // An IPv6 address needs brackets, or its last group would be taken for the port.
  if (split.host.empty() || (!bracketed && split.host.find(':') != std::string_view::npos)) {
    return std::nullopt;
  }
  return split;
}

bool IsLoopbackV4(std::string_view host) {
  // All of 127.0.0.0/8 is loopback. A host name that begins with "127." is not.
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

bool IsLocal(const std::string& address) {
  if (IsUnix(address)) return true;
  const auto split = Split(address);
  return split.has_value() &&
         (split->host == "localhost" || split->host == "::1" || IsLoopbackV4(split->host));
}

std::optional<std::string> SocketPathOf(const std::string& address) {
  std::string_view path = address;
  if (!path.starts_with(kUnix)) return std::nullopt;
  path.remove_prefix(kUnix.size());
  if (path.starts_with("///")) path.remove_prefix(2);  // unix:///run/vernier.sock is a URI.
  return std::string(path);
}

std::string SocketOrPort(const std::string& path) {
  return path.size() > kLongestSocketPath ? "127.0.0.1:0" : std::string(kUnix) + path;
}

absl::Status CheckListenAddress(const std::string& address, bool allow_remote) {
  if (IsUnix(address)) {
    const std::string path = SocketPathOf(address).value_or(address.substr(address.find(':') + 1));
    if (path.empty()) return FieldError("listen", fmt::format("'{}' names no socket", address));
    if (path.size() <= kLongestSocketPath) return absl::OkStatus();
    return FieldError("listen",
                      fmt::format("the path of a socket has at most {} bytes, '{}' has {}",
                                  kLongestSocketPath,
                                  path,
                                  path.size()));
  }
  if (!Split(address).has_value()) {
    return FieldError("listen", fmt::format("must be HOST:PORT or unix:PATH, got '{}'", address));
  }
  if (allow_remote || IsLocal(address)) return absl::OkStatus();
  return FieldError("listen",
                    fmt::format("other hosts can reach '{}', and nothing is encrypted, the token "
                                "included; --allow-remote (in the configuration file, "
                                "allow_remote: true) permits it",
                                address));
}

std::string WithPort(const std::string& address, int port) {
  if (IsUnix(address)) return address;
  return fmt::format("{}:{}", address.substr(0, address.rfind(':')), port);
}

std::string ReachableAt(const std::string& address) {
  // A client cannot connect to "all interfaces".
  const auto split = Split(address);
  if (IsUnix(address) || !split.has_value()) return address;
  if (split->host == "0.0.0.0") return fmt::format("127.0.0.1:{}", split->port);
  if (split->host == "::") return fmt::format("[::1]:{}", split->port);
  return address;
}

}  // namespace vernier::app
