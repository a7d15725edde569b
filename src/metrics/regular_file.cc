#include "src/metrics/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/core/status.h"

namespace vernier::metrics {
namespace {

// Closes the file at the end of its scope.
class OpenFile {
 public:
  // Neither waits for the other end of a pipe nor follows a link at the end of the path.
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace

absl::StatusOr<std::string> ReadRegularFile(const std::string& path,
                                            std::int64_t offset,
                                            std::int64_t most_bytes) {
  const auto unreadable = [&] {
    return Unavailable("cannot read '{}': {}", path, std::strerror(errno));
  };
  const OpenFile file(path);
  if (file.fd() < 0) {
    // ELOOP: a link; ENXIO: a socket. Neither is a report.
    const bool is_absent = errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO;
    if (is_absent) return std::string();
    return unreadable();
  }
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) return unreadable();
  if (!S_ISREG(status.st_mode) || status.st_size <= offset) return std::string();
  const std::int64_t there = status.st_size - offset;
  std::string bytes(static_cast<std::size_t>(there < most_bytes ? there : most_bytes), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = pread(file.fd(),
                              bytes.data() + filled,
                              bytes.size() - filled,
                              offset + static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable();
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace vernier::metrics
