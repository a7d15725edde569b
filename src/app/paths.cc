#include "src/app/paths.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/app/listen_address.h"
#include "src/base/access_token.h"
#include "src/base/private_folder.h"
#include "src/base/sha256.h"
#include "src/core/status.h"
#include "src/storage/owner/store_lock.h"

namespace vernier::app {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::filesystem::path OwnStorePath() { return base::StateFolder() / "vernier.db"; }

}  // namespace

std::string DefaultStorePath() {
  std::string store = Environment("VERNIER_STORE");
  if (!store.empty()) return store;
  return OwnStorePath().string();
}

std::string SecretsDirectory() {
  std::string base = Environment("XDG_CONFIG_HOME");
  if (base.empty()) {
    const std::string home = Environment("HOME");
    if (!home.empty()) base = home + "/.config";
  }
  return base.empty() ? base : base + "/vernier/secrets";
}

absl::Status CreateStoreFolder(const std::string& store) {
  if (store == kInMemory) return absl::OkStatus();
  const std::filesystem::path folder = std::filesystem::path(store).parent_path();
  // Only the default path is certain to be meant; another one may have a typing error.
  if (store == OwnStorePath()) {
    const std::error_code error = base::MakePrivateFolders(folder);
    if (!error) return absl::OkStatus();
    return Unavailable("folder '{}' cannot be created: {}", folder.string(), error.message());
  }
  return storage::CheckStoreFolder(store);
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  // Made absolute, not resolved: a link stays a link.
  const auto absolute = std::filesystem::absolute(path, error);
  return path == kInMemory || error ? path : absolute.lexically_normal().string();
}

std::string StoreDirectory(const std::string& store) {
  if (store == kInMemory) return "";
  std::error_code error;
  const auto absolute = std::filesystem::absolute(store, error);
  return error ? "." : absolute.parent_path().string();
}

std::string DefaultRunsDirectory(const std::string& store) {
  if (store != kInMemory) return store + ".runs";
  // Two processes in memory must not share a folder, so its name has the process.
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  const std::string name = fmt::format("vernier-{}.runs", getpid());
  return ((error ? std::filesystem::path("/tmp") : temporary) / name).string();
}

std::string RunsDirectory(const std::string& store, const std::string& given) {
  return Absolute(given.empty() ? DefaultRunsDirectory(store) : given);
}

std::string SocketPath(const std::string& wanted) {
  if (wanted.size() <= kLongestSocketPath) return wanted;
  base::Sha256 hash;
  hash.Add(wanted);
  // /tmp and not $TMPDIR, which may differ between client and server, and be long itself.
  return fmt::format("/tmp/vernier-{}-{}/socket", geteuid(), hash.Hex().substr(0, 16));
}

std::string DefaultSocket(const std::string& store) {
  if (store == kInMemory) return SocketPath(DefaultRunsDirectory(store) + "/socket");
  std::error_code error;
  // Links are resolved, so that every name of the store leads clients to the same socket.
  const auto file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(store, error), error);
  return SocketPath((error ? store : file.string()) + ".sock");
}

absl::Status PrepareDefaultSocket(const std::string& store) {
  const std::filesystem::path socket = DefaultSocket(store);
  std::error_code error;
  // A socket beside the store has the protection of the store's folder. One below /tmp is in a folder that anybody
  // could make.
  const bool is_beside_store =
      store != kInMemory &&
      std::filesystem::equivalent(
          socket.parent_path(), std::filesystem::absolute(store, error).parent_path(), error);
  if (is_beside_store) return absl::OkStatus();
  return base::ClaimPrivateFolder(socket.parent_path().string());
}

}  // namespace vernier::app
