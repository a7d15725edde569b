#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/storage/sqlite/group_writer.h"
#include "vernier/storage.h"

namespace vernier::sqlite {

// What tests change; the defaults are what programs get.
struct Tuning {
  std::string vfs;          // An SQLite VFS by name; empty: the system's.
  bool synchronous = true;  // False: a commit survives the process but not the host.
};

class SqliteStorage : public Storage {
 public:
  virtual GroupWriter::Statistics statistics() const = 0;
  // Closing the store leaves the write-ahead log to whoever opens the store next, which is quicker.
  virtual void KeepLogOnClose() = 0;
};

// As OpenSqliteStorage.
absl::StatusOr<std::unique_ptr<SqliteStorage>> Open(const SqliteOptions& options,
                                                    const Tuning& tuning);

}  // namespace vernier::sqlite
