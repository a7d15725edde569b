#include "src/storage/sqlite/readers.h"

#include <utility>

#include "src/core/status.h"

namespace vernier::sqlite {
namespace {

// Beyond this many, a connection that is given back is closed.
constexpr std::size_t kMaxIdle = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Readers::Take() {
  {
    const absl::MutexLock lock(&mu_);
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  VERNIER_ASSIGN_OR_RETURN(
      std::unique_ptr<Connection> connection,
      Connection::Open(path_, busy_timeout_, vfs_, Connection::Missing::kRefuse));
  // A new connection opens by path. The store may have been replaced since it was opened, and
  // answers from two files must not mix.
  if (connection->file() != file_) {
    return Unavailable("store '{}': another file is in its place", path_);
  }
  VERNIER_RETURN_IF_ERROR(
      connection->Execute("PRAGMA query_only = ON; PRAGMA cell_size_check = ON; "
                          // 8 MiB: rows in the order of a metric are all over the file.
                          "PRAGMA cache_size = -8192"));
  return connection;
}

void Readers::Return(std::unique_ptr<Connection> connection) {
  const absl::MutexLock lock(&mu_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
}

}  // namespace vernier::sqlite
