#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/base/files.h"

// Who may write a store. Apart from the rest of src/storage, since it needs src/base.
namespace vernier::storage {

// The process that has the store open for writing, one at a time. Recorded beside the store in "<store>.owner", locked
// by flock.
struct StoreOwner {
  std::int64_t process_id = 0;
  std::string address;           // A gRPC target that reaches it; empty: none.
  std::string token_file;        // Holds the token that it requires; empty: none.
  bool runs_every_study = true;  // As app::ServerOptions::run_every_study.
};
// The living owner of the store, if there is one.
std::optional<StoreOwner> FindStoreOwner(const std::string& store);

// Checks that the store's folder exists and that this process may look into it. Whether it may write there, only writing
// shows.
// NotFound: there is no such folder.  Unavailable: it cannot be looked into.
absl::Status CheckStoreFolder(const std::string& store);

// How long commands and servers wait for their turn at a store. A choice: longer than the turns of many processes.
constexpr absl::Duration kTurnPatience = absl::Seconds(30);

// The right of one process to write a store: a lock on the file itself, under whatever name, and one on "<file>.owner",
// whose text says which process owns it and how to reach it. Both end with the process, in whatever way.
//
// SQLite's own locks belong to process and file: they are lost when any descriptor of the file is closed. So this
// object must be destroyed after the store is closed.
class StoreLock {
 public:
  // Takes both locks. Creates the file, empty, if it is missing. Waits for processes that have the store and no
  // address, up to `patience` for each: they give it up when they find that it IsAwaited, or are done soon.
  // Unavailable (kStoreBusy): a living process has it; the message names it.  InvalidArgument: it is not a regular
  // file, or not one that vernier made; nothing was touched.  Other errors: as CheckStoreFolder and base::FileLock.
  static absl::StatusOr<std::unique_ptr<StoreLock>> Acquire(
      const std::string& store, absl::Duration patience = absl::ZeroDuration());
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  // Writes the owner's text for others, with this process's id.  Errors: as base::FileLock::Write.
  absl::Status Publish(const StoreOwner& owner);
  // Whether the store's path still leads to the locked file.
  bool IsInPlace() const { return store_.IsInPlace(); }
  // Whether another process waits for the store, in Acquire.
  bool IsAwaited() const { return owner_.IsAwaited(); }

 private:
  StoreLock(base::FileLock owner, base::FileLock store)
      : owner_(std::move(owner)), store_(std::move(store)) {}

  const base::FileLock owner_;
  const base::FileLock store_;
};

// Checks that SQLite may open the store under this name. Beside a file with several hard links, SQLite looks for the
// write-ahead log of the name that it was given: under another name than the owner's it reads old data, and its writes
// destroy the store.
// Unavailable (kStoreBusy): a living process has the file under another name.
absl::Status CheckStoreName(const std::string& store);

}  // namespace vernier::storage
