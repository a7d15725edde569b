#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

// Backups of a store's file, and what else is done with it as a whole.
namespace vernier::app {

struct BackupReport {
  std::int64_t studies = 0;
  std::int64_t trials = 0;
  std::int64_t events = 0;
  std::int64_t bytes = 0;
  // Of an incremental one.
  bool is_incremental = false;
  std::int64_t studies_added = 0;
  std::int64_t studies_removed = 0;
  std::int64_t trials_written = 0;
  std::int64_t events_added = 0;
};

enum class IfExists {
  kRefuse,
  kReplace,
  kAppend,  // It is brought up to now. If there is none, a whole one is made.
};

// Copies the store, which another process may own and write meanwhile, to a file for its owner only; what a link leads to.
// The file is verified, synced, and put in place as a whole.
// AlreadyExists: the file.  FailedPrecondition: it is no earlier backup of this store, was opened as a store since, or has
// studies where the store has none.  Unavailable (kStoreBusy): a process uses it as its store.  DataLoss: the store is damaged;
// a backup that is there stays.  InvalidArgument: the file is the store, or no backup.  Others: as Inspection::Open.
absl::StatusOr<BackupReport> BackUpStore(const std::string& store,
                                         const std::string& file,
                                         IfExists if_exists);

struct RestoreReport {
  std::int64_t studies = 0;
  std::int64_t trials = 0;
  std::int64_t events = 0;
  // Where the old store, or what was left of it, is now; empty: there was none.
  std::string replaced;
};

// Puts a copy of the backup in the place of the store, once it is verified. With `replace`, a store that is there is kept
// under another name; a write-ahead log that a store left behind is in any case. Root gives the new file to the owner of the
// old one, or of its folder.
// AlreadyExists: the store, without `replace`.  Unavailable (kStoreBusy): a process owns it.  DataLoss: the backup is
// damaged; nothing is changed.  NotFound: there is no backup.
absl::StatusOr<RestoreReport> RestoreStore(const std::string& file,
                                           const std::string& store,
                                           bool replace,
                                           absl::Time now);

struct CompactReport {
  bool in_use = false;  // By a process that owns the store.
  std::int64_t bytes_before = 0;
  std::int64_t bytes_after = 0;  // Larger if much was stored meanwhile.
};

// Gives free pages back to the file system: where nobody owns the store by writing it anew, otherwise in steps between the
// changes of its owner (sqlite::ShrinkStore).
// ResourceExhausted: its folder has no room for it twice over.  FailedPrecondition: it is in use, and has to be written anew
// first.  DataLoss: it is damaged. In each case nothing is changed.
absl::StatusOr<CompactReport> CompactStore(const std::string& store);

}  // namespace vernier::app
