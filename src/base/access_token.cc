#include "src/base/access_token.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "src/base/files.h"
#include "src/base/private_folder.h"
#include "src/base/random_hex.h"
#include "src/core/status.h"

namespace vernier::base {
namespace {

namespace fs = std::filesystem;

// 256 random bits, written as 64 hexadecimal digits. The bounds let users bring a token of their own, but none that is
// guessed easily (32 hexadecimal digits are 128 bits).
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kLeastToken = 32;
constexpr std::size_t kMostToken = 4096;

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

absl::Status CheckIsPrivate(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return Unavailable("'{}': {}", path, std::strerror(errno));
  }
  // A file of root's, installed by an administrator for this user, is trusted.
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return PermissionDenied(
        "token file '{}' belongs to another user, number {}", path, status.st_uid);
  }
  if ((status.st_mode & 077) == 0) return absl::OkStatus();
  return PermissionDenied(
      "token file '{}' has mode {:04o}, others must not read it: `chmod 600` it",
      path,
      status.st_mode & 07777);
}

bool IsToken(std::string_view text) {
  return text.size() >= kLeastToken && text.size() <= kMostToken &&
         std::ranges::all_of(text, [](unsigned char c) { return absl::ascii_isgraph(c); });
}

// Writes a new file. False: errno says why.
bool WriteNew(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_written =
      write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      fsync(file) == 0;
  const int error = errno;
  close(file);
  errno = error;
  return is_written;
}

// Writes the file under another name and links it: link(2) fails if the name exists, so only one of several processes
// makes the token, and no reader sees a part of it.
absl::Status MakeToken(const std::string& path) {
  const std::string temporary = path + "." + RandomHex(8) + ".new";
  const bool is_made = WriteNew(temporary, RandomHex(kTokenBytes) + "\n") &&
                       (link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int error = errno;
  unlink(temporary.c_str());
  if (is_made) return absl::OkStatus();
  return Unavailable("token file '{}' cannot be written: {}", path, std::strerror(error));
}

// $HOME, or the home of the user in the system's database.
fs::path HomeFolder() {
  if (std::string home = Environment("HOME"); !home.empty()) return home;
  passwd entry = {};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  if (getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found) == 0 && found != nullptr) {
    return found->pw_dir;
  }
  return "/";
}

}  // namespace

fs::path StateFolder() {
  // The XDG Base Directory Specification tells programs to ignore a relative value.
  const fs::path state = Environment("XDG_STATE_HOME");
  if (state.is_absolute()) return state / "vernier";
  return HomeFolder() / ".local" / "state" / "vernier";
}

std::string TokenPath() {
  std::string path = Environment("VERNIER_TOKEN_FILE");
  return path.empty() ? (StateFolder() / "token").string() : path;
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostToken + 1));
  // After reading, so that a missing file is NotFound.
  VERNIER_RETURN_IF_ERROR(CheckIsPrivate(path));
  std::string token(absl::StripAsciiWhitespace(text));
  if (IsToken(token)) return token;
  return InvalidArgument("token file '{}' must hold {} to {} characters without spaces",
                         path,
                         kLeastToken,
                         kMostToken);
}

absl::StatusOr<std::string> LoadOrMakeToken(const std::string& path) {
  absl::StatusOr<std::string> token = ReadToken(path);
  if (!absl::IsNotFound(token.status())) return token;
  const fs::path folder = fs::path(path).parent_path();
  if (const std::error_code error = MakePrivateFolders(folder); error) {
    return Unavailable("folder '{}' cannot be created: {}", folder.string(), error.message());
  }
  VERNIER_RETURN_IF_ERROR(MakeToken(path));
  return ReadToken(path);
}

}  // namespace vernier::base
