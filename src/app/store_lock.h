#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vernier::app {

// The right of one process to write a store: an flock on "<store>.owner", whose text says who it is and how to reach it.
// The lock goes with the process, however that ends.
class StoreLock {
 public:
  // Unavailable (kStoreBusy): a live process has it; the message names it.  Unavailable: the file cannot be made.
  static absl::StatusOr<std::unique_ptr<StoreLock>> Acquire(const std::string& store);
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  // Says where calls are taken: a gRPC target, or empty.
  absl::Status Publish(const std::string& address);

 private:
  StoreLock(int file, std::string path);

  const int file_;
  const std::string path_;
};

}  // namespace vernier::app
