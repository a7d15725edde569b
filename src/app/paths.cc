#include "src/app/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "fmt/format.h"
#include "src/core/status.h"

namespace vernier::app {
namespace {

constexpr std::string_view kInMemory = ":memory:";

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::filesystem::path StateHome() {
  // The base directory specification tells programs to ignore a relative value.
  std::filesystem::path state = Environment("XDG_STATE_HOME");
  if (state.is_absolute()) return state;
  const std::string home = Environment("HOME");
  return std::filesystem::path(home.empty() ? "/" : home) / ".local" / "state";
}

std::filesystem::path OwnStorePath() { return StateHome() / "vernier" / "vernier.db"; }

absl::Status CreateFolder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return absl::OkStatus();
  VERNIER_RETURN_IF_ERROR(CreateFolder(folder.parent_path()));
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return Unavailable("folder '{}' cannot be created: {}", folder.string(), std::strerror(errno));
}

}  // namespace

std::string DefaultStorePath() {
  std::string store = Environment("VERNIER_STORE");
  if (!store.empty()) return store;
  return OwnStorePath().string();
}

absl::Status CreateStoreFolder(const std::string& store) {
  if (store == kInMemory) return absl::OkStatus();
  const std::filesystem::path folder = std::filesystem::path(store).parent_path();
  if (store == OwnStorePath()) return CreateFolder(folder);
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return absl::OkStatus();
  return NotFound("store: there is no folder '{}' for '{}'; create it, or name another store",
                  folder.string(),
                  store);
}

std::string DefaultRunsDirectory(const std::string& store) {
  if (store != kInMemory) return store + ".runs";
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  const std::string name = fmt::format("vernier-{}.runs", getpid());
  return ((error ? std::filesystem::path("/tmp") : temporary) / name).string();
}

std::string RunsDirectory(const std::string& store, const std::string& given) {
  const std::string directory = given.empty() ? DefaultRunsDirectory(store) : given;
  std::error_code error;
  const auto absolute = std::filesystem::absolute(directory, error);
  return error ? directory : absolute.lexically_normal().string();
}

}  // namespace vernier::app
