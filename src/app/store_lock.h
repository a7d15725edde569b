#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/files.h"

namespace vernier::app {

struct StoreOwner;

// The right of one process to write a store: a lock on the file itself, whatever it is called, and one on "<file>.owner",
// whose text says who has it and how to reach him. Both go with the process, however that ends.
//
// SQLite's own locks are kept by process and file: they are lost when any descriptor of the file is closed. So this must
// be destroyed after the store is closed.
class StoreLock {
 public:
  // Creates the file, empty, if there is none.
  // Unavailable (kStoreBusy): a live process has it; the message names it.  InvalidArgument: it is no regular file, or not one
  // that vernier made; nothing was touched.  Other errors: as base::FileLock.
  static absl::StatusOr<std::unique_ptr<StoreLock>> Acquire(const std::string& store);
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  // Says who this process is to others; its id is added.  Errors: as base::FileLock::Write.
  absl::Status Publish(const StoreOwner& owner);
  // Whether the store's name still leads to the file that is locked.
  bool IsInPlace() const { return store_.IsInPlace(); }

 private:
  StoreLock(base::FileLock owner, base::FileLock store)
      : owner_(std::move(owner)), store_(std::move(store)) {}

  const base::FileLock owner_;
  const base::FileLock store_;
};

// Whether SQLite may open the store under this name. Beside a file with several hard links, SQLite looks for the write-ahead log of
// the name it was given: under another name than the owner's it reads old data, and what it writes destroys the store.
// Unavailable (kStoreBusy): a live process has the file under another name.
absl::Status CheckStoreName(const std::string& store);

}  // namespace vernier::app
