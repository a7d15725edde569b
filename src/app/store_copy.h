#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

// Backs up, restores and compacts a store's file.
namespace vernier::app {

struct BackupReport {
  std::int64_t studies = 0;
  std::int64_t trials = 0;
  std::int64_t events = 0;
  std::int64_t bytes = 0;
  // Set for an incremental backup:
  bool is_incremental = false;
  std::int64_t studies_added = 0;
  std::int64_t studies_removed = 0;
  std::int64_t trials_written = 0;
  std::int64_t events_added = 0;
};

enum class IfExists {
  kRefuse,
  kReplace,
  kAppend,  // Updates it. If there is none, a full one is made.
};

// Copies the store, which another process may own and write meanwhile, to a file for its owner only; through a symbolic
// link, to its target. The file is verified, synced, and put in place as a whole.
// AlreadyExists: the file.  FailedPrecondition: it is no earlier backup of this store, was opened as a store since, or
// has studies while the store has none.  Unavailable (kStoreBusy): a process uses it as its store.  DataLoss: the store
// is damaged; an existing backup is unchanged.  InvalidArgument: the file is the store, or no backup.  Others: as
// Inspection::Open.
absl::StatusOr<BackupReport> BackUpStore(const std::string& store,
                                         const std::string& file,
                                         IfExists if_exists);

struct RestoreReport {
  std::int64_t studies = 0;
  std::int64_t trials = 0;
  std::int64_t events = 0;
  // Where the old store, or its remains, is now; empty: there was none.
  std::string replaced;
};

// Replaces the store by a copy of the backup, once that is verified. With `replace`, an existing store is kept under
// another name; a write-ahead log that a store left behind always is. Root gives the new file to the owner of the old
// one, or of its folder.
// AlreadyExists: the store, without `replace`.  Unavailable (kStoreBusy): a process owns it.  DataLoss: the backup is
// damaged; nothing is changed.  NotFound: there is no backup.
absl::StatusOr<RestoreReport> RestoreStore(const std::string& file,
                                           const std::string& store,
                                           bool replace,
                                           absl::Time now);

struct CompactReport {
  bool in_use = false;  // Another process owns the store.
  std::int64_t bytes_before = 0;
  std::int64_t bytes_after = 0;  // Larger if much was stored meanwhile.
};

// Returns free pages to the file system: if no process owns the store, by writing it anew, otherwise in steps between
// the changes of its owner (sqlite::ShrinkStore).
// ResourceExhausted: its folder lacks room for twice its size.  FailedPrecondition: it is in use, and has to be written
// anew first.
// DataLoss: it is damaged. In each case nothing is changed.
absl::StatusOr<CompactReport> CompactStore(const std::string& store);

}  // namespace vernier::app
