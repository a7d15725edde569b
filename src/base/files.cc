// Locks use flock(2) rather than fcntl(2): a process loses an fcntl lock when it closes any descriptor of the file, and
// SQLite opens and closes the store's file too. A flock belongs to the open file description, which a forked child
// shares until it execs (O_CLOEXEC).

#include "src/base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/open_file.h"
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

// Owns a descriptor.
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

absl::StatusOr<std::string> ReadWhole(const std::string& path,
                                      std::int64_t most_bytes,
                                      bool takes_streams) {
  const OpenFile file(path);
  if (file.error() != 0) return FromErrno("cannot open", path, file.error());
  const bool is_stream = file.kind() == "a pipe" || file.kind() == "a terminal";
  if (!file.kind().empty() && !(takes_streams && is_stream)) {
    return InvalidArgument("'{}' is {}, not a regular file", path, file.kind());
  }
  const std::int64_t size = file.Size().value_or(0);
  if (size > most_bytes) {
    return InvalidArgument("'{}' has {} bytes, at most {} are read", path, size, most_bytes);
  }
  std::optional<std::string> content = file.ReadToEnd(most_bytes);
  if (!content.has_value()) return FromErrno("cannot read", path, errno);
  if (std::cmp_greater(content->size(), most_bytes)) {
    return InvalidArgument("'{}' has more than the {} bytes that are read", path, most_bytes);
  }
  return *std::move(content);
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, std::int64_t most_bytes) {
  return ReadWhole(path, most_bytes, /*takes_streams=*/false);
}

absl::StatusOr<std::string> ReadInput(const std::string& path, std::int64_t most_bytes) {
  return ReadWhole(path, most_bytes, /*takes_streams=*/true);
}

absl::StatusOr<std::optional<FileLock>> FileLock::TryAcquire(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return FromErrno("cannot open", path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    return FromErrno("cannot lock", path, errno);
  }
  return std::optional<FileLock>(FileLock(path, file.release()));
}

absl::StatusOr<std::optional<FileLock>> FileLock::Acquire(const std::string& path) {
  // Together one second. A choice: a child between fork and exec needs milliseconds, unless the host is very busy.
  constexpr int kTries = 40;
  constexpr int kPauseMilliseconds = 25;
  absl::StatusOr<std::optional<FileLock>> lock = TryAcquire(path);
  for (int i = 1; i < kTries && lock.ok() && !lock->has_value(); ++i) {
    poll(nullptr, 0, kPauseMilliseconds);
    lock = TryAcquire(path);
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileLock::IsInPlace() const {
  struct stat locked;
  struct stat named;
  // Device and inode identify a file; the path may have been renamed or replaced.
  return ::fstat(descriptor_, &locked) == 0 && ::stat(path_.c_str(), &named) == 0 &&
         locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

// A record lock (fcntl(2)): independent of flock(2), not inherited by the child of a fork, and visible to F_GETLK, so that
// looking for it disturbs nobody.
bool FileLock::IsAwaited() const {
  struct flock waiter = {};
  waiter.l_type = F_WRLCK;
  waiter.l_whence = SEEK_SET;
  return ::fcntl(descriptor_, F_GETLK, &waiter) == 0 && waiter.l_type != F_UNLCK;
}

LockWaiter::~LockWaiter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LockWaiter::Tell() {
  if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct flock waiter = {};
  waiter.l_type = F_RDLCK;
  waiter.l_whence = SEEK_SET;
  if (descriptor_ >= 0) ::fcntl(descriptor_, F_SETLK, &waiter);
}

absl::Status FileLock::Write(std::string_view content) const {
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) return FromErrno("cannot write", path_, errno);
  VERNIER_RETURN_IF_ERROR(WriteAll(descriptor_, path_, content));
  // Only if it is needed, since it can take milliseconds.
  struct stat status = {};
  const auto size = static_cast<off_t>(content.size());
  if (::fstat(descriptor_, &status) == 0 && status.st_size == size) return absl::OkStatus();
  if (::ftruncate(descriptor_, size) != 0) return FromErrno("cannot shorten", path_, errno);
  return absl::OkStatus();
}

// A shared lock, so that two observers do not take each other for a holder.
bool IsLocked(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return false;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) != 0;
}

}  // namespace vernier::base
