#pragma once

#include <string>

#include "absl/status/status.h"

// Where Vernier keeps its files, for the daemon and the command line alike.
namespace vernier::app {

// $VERNIER_STORE, or vernier/vernier.db under $XDG_STATE_HOME, or under ~/.local/state. Nothing is created.
std::string DefaultStorePath();

// The path as others must write it, who are in other folders; ":memory:" stays as it is.
std::string Absolute(const std::string& path);

// Sees to it that the folder of `store` is there. The folder of the user's own store is created, with its parents, mode
// 0700; any other must exist, so that a typing error creates nothing. ":memory:" needs none.
// NotFound: there is no such folder.  Unavailable: it cannot be created.
absl::Status CreateStoreFolder(const std::string& store);

// The folder that has the store's file; empty for ":memory:".
std::string StoreDirectory(const std::string& store);

// Where the attempts of a store keep logs and records, unless said otherwise: "<store>.runs"; of ":memory:", a
// folder of this process under the system's temporary one.
std::string DefaultRunsDirectory(const std::string& store);
// That, or `given` if it is not empty. Absolute, since programs run elsewhere find their files by it.
std::string RunsDirectory(const std::string& store, const std::string& given);

// Where the secrets are that jobs name: vernier/secrets under $XDG_CONFIG_HOME, or under ~/.config; empty if neither is set.
std::string SecretsDirectory();

// Where a socket is to be: the path, or where that has more characters than the address of a socket holds, one in a folder
// of the user's below /tmp, always the same for the same path.
std::string SocketPath(const std::string& wanted);
// Where the server of a store takes calls unless said otherwise: "<store>.sock".
std::string DefaultSocket(const std::string& store);
// Sees to it that its folder is there, and that nobody else can put a socket of his own there.
// Errors: as base::ClaimPrivateFolder.
absl::Status PrepareDefaultSocket(const std::string& store);

}  // namespace vernier::app
