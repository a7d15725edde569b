#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/files.h"

namespace vernier::app {

// The right of one process to write a store: a lock on "<store>.owner", whose text says who it is and how to reach it.
// The lock goes with the process, however that ends.
class StoreLock {
 public:
  // Unavailable (kStoreBusy): a live process has it; the message names it.  Other errors: as base::FileLock.
  static absl::StatusOr<std::unique_ptr<StoreLock>> Acquire(const std::string& store);
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  // Says where calls are taken: a gRPC target, or empty.  Errors: as base::FileLock::Write.
  absl::Status Publish(const std::string& address);

 private:
  explicit StoreLock(base::FileLock file) : file_(std::move(file)) {}

  const base::FileLock file_;
};

}  // namespace vernier::app
