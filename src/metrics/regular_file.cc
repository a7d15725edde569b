#include "src/metrics/regular_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "src/base/open_file.h"
#include "src/core/status.h"

namespace vernier::metrics {

absl::StatusOr<std::string> ReadRegularFile(const std::string& path,
                                            std::int64_t offset,
                                            std::int64_t most_bytes) {
  const auto unreadable = [&](int error) {
    return Unavailable("cannot read '{}': {}", path, std::strerror(error));
  };
  const base::OpenFile file(path, base::OpenFile::Link::kRefuse);
  const int error = file.error();
  // ELOOP: a link; ENXIO: a socket. Neither can be a report.
  if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENXIO) return std::string();
  if (error != 0) return unreadable(error);
  if (!file.kind().empty()) return std::string();
  const std::optional<std::int64_t> size = file.Size();
  if (!size.has_value()) return unreadable(errno);
  if (*size <= offset) return std::string();
  std::optional<std::string> bytes = file.ReadAt(offset, std::min(*size - offset, most_bytes));
  if (!bytes.has_value()) return unreadable(errno);
  return *std::move(bytes);
}

}  // namespace vernier::metrics
