#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {

// Connections that read while another one writes. Thread-safe; each reader has one to itself for as long as it reads.
class Readers {
 public:
  // `file`: what the path must lead to.
  Readers(std::string path, const FileIdentity& file, absl::Duration busy_timeout, std::string vfs)
      : path_(std::move(path)), file_(file), busy_timeout_(busy_timeout), vfs_(std::move(vfs)) {}

  // What `read` returns, a StatusOr, from one snapshot of the store.
  template <typename Read>
  std::invoke_result_t<Read, Connection&> Run(const Read& read) ABSL_LOCKS_EXCLUDED(mu_) {
    VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Take());
    auto result = RunIn(*connection, read);
    if (!connection->in_transaction()) Return(std::move(connection));
    return result;
  }

 private:
  template <typename Read>
  static std::invoke_result_t<Read, Connection&> RunIn(Connection& connection, const Read& read) {
    VERNIER_ASSIGN_OR_RETURN(Transaction snapshot,
                             Transaction::Begin(connection, Transaction::Kind::kRead));
    return read(connection);
  }
  absl::StatusOr<std::unique_ptr<Connection>> Take() ABSL_LOCKS_EXCLUDED(mu_);
  void Return(std::unique_ptr<Connection> connection) ABSL_LOCKS_EXCLUDED(mu_);

  const std::string path_;
  const FileIdentity file_;
  const absl::Duration busy_timeout_;
  const std::string vfs_;
  absl::Mutex mu_;
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::sqlite
