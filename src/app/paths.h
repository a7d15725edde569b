#pragma once

#include <string>

#include "absl/status/status.h"

// Where Vernier keeps its files, for the daemon and the command line alike.
namespace vernier::app {

// $VERNIER_STORE, or vernier/vernier.db under $XDG_STATE_HOME, or under ~/.local/state. Nothing is created.
std::string DefaultStorePath();

// Sees to it that the folder of `store` is there. The folder of the user's own store is created, with its parents, mode
// 0700; any other must exist, so that a typing error creates nothing. ":memory:" needs none.
// NotFound: there is no such folder.  Unavailable: it cannot be created.
absl::Status CreateStoreFolder(const std::string& store);

// Where the attempts of a store keep logs and records, unless said otherwise: "<store>.runs"; of ":memory:", a
// folder of this process under the system's temporary one.
std::string DefaultRunsDirectory(const std::string& store);
// That, or `given` if it is not empty. Absolute, since programs run elsewhere find their files by it.
std::string RunsDirectory(const std::string& store, const std::string& given);

}  // namespace vernier::app
