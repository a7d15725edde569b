#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

// The paths of Vernier's files, for the daemon and the command line.
namespace vernier::app {

// The name of a store without a file.
inline constexpr std::string_view kInMemory = ":memory:";

// $VERNIER_STORE, else vernier/vernier.db under $XDG_STATE_HOME, else under ~/.local/state. Creates nothing.
std::string DefaultStorePath();

// The absolute path, for processes in other folders; ":memory:" is unchanged.
std::string Absolute(const std::string& path);

// Makes sure that the folder of `store` exists. The folder of the user's own store is created with its parents, mode
// 0700; any other must exist, so that a typing error creates nothing. ":memory:" needs none.
// NotFound: there is no such folder.  Unavailable: it cannot be created, or not be looked into.
absl::Status CreateStoreFolder(const std::string& store);

// The folder of the store's file; empty for ":memory:".
std::string StoreDirectory(const std::string& store);

// The default folder for logs and records of attempts: "<store>.runs"; for ":memory:", a folder of this process below
// the system's temporary folder.
std::string DefaultRunsDirectory(const std::string& store);
// `given`, or the default if it is empty. Absolute, since programs run in other folders.
std::string RunsDirectory(const std::string& store, const std::string& given);

// The folder of secrets that jobs refer to by name: vernier/secrets under $XDG_CONFIG_HOME, or under ~/.config; empty
// if neither is set.
std::string SecretsDirectory();

// The path for a socket: `wanted`, or, if that is too long for the address of a socket, a path in a folder of the
// user's below /tmp, always the same for the same `wanted`.
std::string SocketPath(const std::string& wanted);
// The default socket of the server of a store: "<store>.sock".
std::string DefaultSocket(const std::string& store);
// Makes sure that its folder exists, and that no other user can put a socket there.
// Errors: as base::ClaimPrivateFolder.
absl::Status PrepareDefaultSocket(const std::string& store);

}  // namespace vernier::app
