#include "src/base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/core/status.h"

namespace vernier::base {
namespace {

absl::Status FromErrno(std::string_view what, const std::string& path, int error) {
  if (error == ENOENT) return NotFound("{} '{}': {}", what, path, std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return ResourceExhausted("{} '{}': {}", what, path, std::strerror(error));
  }
  return Unavailable("{} '{}': {}", what, path, std::strerror(error));
}

// A descriptor that is closed on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

absl::Status WriteAll(int fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FromErrno("cannot write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status Fill(int fd, const std::string& path, std::string_view content) {
  VERNIER_RETURN_IF_ERROR(WriteAll(fd, path, content));
  return ::fsync(fd) == 0 ? absl::OkStatus() : FromErrno("cannot sync", path, errno);
}

// A rename is durable when its folder is.
absl::Status SyncFolderOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return FromErrno("cannot open folder", folder, errno);
  if (::fsync(directory.get()) != 0) return FromErrno("cannot sync folder", folder, errno);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FromErrno("cannot open", path, errno);
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno("cannot read", path, errno);
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view content) {
  std::string beside = path + ".XXXXXX";
  const Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (file.get() < 0) return FromErrno("cannot create a file beside", path, errno);
  absl::Status status = Fill(file.get(), beside, content);
  if (status.ok() && ::rename(beside.c_str(), path.c_str()) != 0) {
    status = FromErrno("cannot replace", path, errno);
  }
  if (!status.ok()) {
    ::unlink(beside.c_str());
    return status;
  }
  return SyncFolderOf(path);
}

absl::Status MakeDirectories(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return absl::OkStatus();
  std::filesystem::create_directories(path, error);
  if (error) return FromErrno("cannot create folder", path, error.value());
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  return error ? FromErrno("cannot protect folder", path, error.value()) : absl::OkStatus();
}

absl::StatusOr<std::optional<FileLock>> FileLock::TryAcquire(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return FromErrno("cannot open", path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    return FromErrno("cannot lock", path, errno);
  }
  return std::optional<FileLock>(FileLock(file.release()));
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

absl::Status FileLock::Write(std::string_view content) const {
  if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) {
    return FromErrno("cannot empty", "the locked file", errno);
  }
  return WriteAll(descriptor_, "the locked file", content);
}

bool IsLocked(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return false;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) != 0;
}

}  // namespace vernier::base
