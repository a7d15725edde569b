// O_NONBLOCK keeps open(2) from waiting for a writer of a FIFO or for a device; it has no effect on regular files.
// O_NOCTTY keeps a terminal named by a user from becoming the controlling terminal.

#include "src/base/open_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace vernier::base {
namespace {

// Bytes per read. A choice: the default capacity of a pipe on Linux (pipe(7)).
constexpr std::int64_t kPiece = 65536;
// Time to wait for a writer of a named pipe. A choice: a pipe that nobody writes to is a mistake, and must not hang a
// command.
constexpr int kPatienceMs = 10'000;
// The file system of unnamed pipes (PIPEFS_MAGIC in linux/magic.h).
constexpr long kNamelessPipes = 0x50495045;

std::string_view KindOf(int fd, mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return isatty(fd) == 1 ? "a terminal" : "a device";
}

bool HasName(int pipe) {
  struct statfs system {};
  return fstatfs(pipe, &system) != 0 || system.f_type != kNamelessPipes;
}

}  // namespace

OpenFile::OpenFile(const std::string& path, Link link)
    : fd_(open(path.c_str(),
               O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
                   (link == Link::kRefuse ? O_NOFOLLOW : 0))) {
  if (fd_ < 0) {
    error_ = errno;
  } else {
    Examine();
  }
}

OpenFile::OpenFile(int descriptor) : fd_(descriptor), is_owned_(false) { Examine(); }

OpenFile::OpenFile(OpenFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      is_owned_(other.is_owned_),
      error_(other.error_),
      kind_(other.kind_) {}

OpenFile::~OpenFile() {
  const int saved = errno;
  if (fd_ >= 0 && is_owned_) close(fd_);
  errno = saved;
}

void OpenFile::Examine() {
  struct stat status {};
  if (fstat(fd_, &status) != 0) {
    error_ = errno;
  } else {
    kind_ = KindOf(fd_, status.st_mode);
  }
}

std::optional<std::int64_t> OpenFile::Size() const {
  struct stat status {};
  if (fstat(fd_, &status) != 0) return std::nullopt;
  return status.st_size;
}

std::optional<std::string> OpenFile::ReadAt(std::int64_t offset, std::int64_t count) const {
  std::string bytes;
  while (std::cmp_less(bytes.size(), count)) {
    const std::size_t filled = bytes.size();
    const auto wanted =
        static_cast<std::size_t>(std::min(kPiece, count - static_cast<std::int64_t>(filled)));
    bytes.resize(filled + wanted);
    const ssize_t got =
        pread(fd_, bytes.data() + filled, wanted, offset + static_cast<off_t>(filled));
    bytes.resize(filled + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
  }
  return bytes;
}

bool OpenFile::IsWaitedFor() const {
  return kind_ == "a pipe" || kind_ == "a terminal" || kind_ == "a socket";
}

bool OpenFile::Await() const {
  if (!IsWaitedFor()) return true;
  pollfd end = {.fd = fd_, .events = POLLIN};
  int ready = 0;
  do {
    ready = poll(&end, 1, kind_ == "a pipe" && HasName(fd_) ? kPatienceMs : -1);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0;
}

std::optional<std::string> OpenFile::ReadToEnd(std::int64_t most_bytes) const {
  std::string bytes;
  while (std::cmp_less_equal(bytes.size(), most_bytes)) {
    if (!Await()) return std::nullopt;
    const std::size_t filled = bytes.size();
    bytes.resize(filled + kPiece);
    const ssize_t got = read(fd_, bytes.data() + filled, kPiece);
    bytes.resize(filled + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && (errno == EINTR || (errno == EAGAIN && IsWaitedFor()))) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
  }
  return bytes;
}

}  // namespace vernier::base
