#include "src/metrics/input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/numbers.h"
#include "src/core/status.h"

namespace vernier::metrics {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 24;

}  // namespace

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()), &number)) return std::nullopt;
  return number;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return std::string();
    return Unavailable("cannot read '{}': {}", path, std::strerror(errno));
  }
  std::string bytes;
  char buffer[16384];
  ssize_t got = 1;
  while (got > 0 && bytes.size() < kMostBytes) {
    got = read(fd, buffer, sizeof buffer);
    if (got > 0) bytes.append(buffer, static_cast<std::size_t>(got));
  }
  const int error = got < 0 ? errno : 0;
  close(fd);
  // Some programs make a folder of event files where the report is expected; that is no report.
  if (error != 0 && error != EISDIR)
    return Unavailable("cannot read '{}': {}", path, std::strerror(error));
  return bytes;
}

}  // namespace vernier::metrics
