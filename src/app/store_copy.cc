// The rules of each operation: work on a new file beside the target, verify it, sync it, then rename, so that a crash
// leaves the old file or the new one, never a mixture. Files of a store belong together: a write-ahead log (-wal)
// beside another database would be replayed into it and destroy it (sqlite.org/howtocorrupt.html, on mispaired files
// and journals), so companions are moved or removed together with their file.

#include "src/app/store_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/synchronization/notification.h"
#include "src/app/paths.h"
#include "src/app/server.h"
#include "src/core/damage.h"
#include "src/core/status.h"
#include "src/launch/local/disk_guard.h"
#include "src/storage/sqlite/backup.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;

absl::Status FileError(const char* what, const std::string& path, int error) {
  const std::string text = fmt::format("'{}' {}: {}", path, what, std::strerror(error));
  // A full disk is the user's to clear, and other programs tell it apart by the code.
  return error == ENOSPC || error == EDQUOT ? ResourceExhausted("{}", text)
                                            : Unavailable("{}", text);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

absl::Status Sync(const std::string& path) {
  // A folder is opened and synced like a file: without that, a rename may be lost.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return FileError("cannot be opened", path, errno);
  const int failed = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  return failed == 0 ? absl::OkStatus() : FileError("cannot be synced", path, failed);
}

std::int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

// A new file for this user only, beside its target. It is removed unless Become succeeds.
class NewFile {
 public:
  static absl::StatusOr<NewFile> Create(const std::string& target) {
    std::string path = target + ".new-XXXXXX";
    const int descriptor = mkstemp(path.data());
    if (descriptor < 0) return FileError("cannot be created", path, errno);
    close(descriptor);
    return NewFile(std::move(path));
  }
  NewFile(NewFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile() {
    if (path_.empty()) return;
    // SQLite may have made companions of it.
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) unlink((path_ + suffix).c_str());
  }

  const std::string& path() const { return path_; }
  // Syncs the file and gives it the target's name. Without `replace`, the target must not exist.
  absl::Status Become(const std::string& target, bool replace) {
    VERNIER_RETURN_IF_ERROR(Sync(path_));
    const int done =
        replace ? rename(path_.c_str(), target.c_str())
                : renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE);
    if (done != 0 && errno == EEXIST) return AlreadyExists("'{}' exists", target);
    if (done != 0) return FileError("cannot be put in place", target, errno);
    path_.clear();
    // The rename is durable only once the folder is.
    return Sync(FolderOf(target));
  }

 private:
  explicit NewFile(std::string path) : path_(std::move(path)) {}
  std::string path_;  // Empty: it has become the target.
};

constexpr const char* kCompanions[] = {"-journal", "-wal", "-shm"};

bool IsThere(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

absl::Status CheckNotStore(const std::string& store, const std::string& file) {
  std::error_code error;
  // By device and inode, so that links and other spellings are recognised.
  if (!fs::equivalent(store, file, error)) return absl::OkStatus();
  return InvalidArgument("'{}' is the store itself; name another file", file);
}

// Locks the file of a backup that is to be changed or replaced, against its use as a store; nothing if it does not
// exist.
absl::StatusOr<std::optional<base::FileLock>> ClaimBackup(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return std::nullopt;
  if (!fs::is_regular_file(status)) {
    return InvalidArgument("'{}' is no regular file; name another", file);
  }
  VERNIER_ASSIGN_OR_RETURN(std::optional<base::FileLock> lock, base::FileLock::Acquire(file));
  if (!lock.has_value()) {
    return WithReason(Unavailable("'{}' is in use as a store, or by another backup", file),
                      Reason::kStoreBusy);
  }
  if (SizeOf(file) > 0 && !sqlite::IsStoreFile(file)) {
    return InvalidArgument("'{}' is no backup of a store; name another file", file);
  }
  if (SizeOf(file + "-wal") > 0) {
    return FailedPrecondition(
        "'{}' was opened as a store since: it has a write-ahead log, '{}-wal'; name another file",
        file,
        file);
  }
  return lock;
}

absl::Status CheckMayBeFile(const std::string& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    return InvalidArgument("'{}' is a folder; name a file in it", file);
  }
  const std::string folder = FolderOf(file);
  if (!fs::is_directory(folder, error)) return NotFound("there is no folder '{}'", folder);
  return absl::OkStatus();
}

// Refuses to replace a backup with studies by that of a store without any: the store may have lost them.
absl::Status CheckNotEmptied(const sqlite::RowCounts& counts, const std::string& file) {
  // A new file, or one that was never filled, loses nothing.
  if (counts.studies > 0 || SizeOf(file) == 0) return absl::OkStatus();
  const absl::StatusOr<sqlite::RowCounts> before = sqlite::CountRows(file);
  if (!before.ok() || before->studies == 0) return absl::OkStatus();
  return FailedPrecondition(
      "the store has no study, backup '{}' has {}; name another file", file, before->studies);
}

// The target of a symbolic link, so that the link itself stays.
std::string Target(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target.string();
}

BackupReport ReportOf(const sqlite::RowCounts& counts, const std::string& file) {
  return {.studies = counts.studies,
          .trials = counts.trials,
          .events = counts.events,
          .bytes = SizeOf(file)};
}

absl::Status DamageIn(const std::string& what, const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  const std::string message(status.message());
  return Damage(what, message);
}

absl::StatusOr<BackupReport> Append(const std::string& store, const std::string& file) {
  VERNIER_ASSIGN_OR_RETURN(const auto claimed, ClaimBackup(file));
  VERNIER_ASSIGN_OR_RETURN(const sqlite::Appended appended, sqlite::AppendToCopy(store, file));
  VERNIER_RETURN_IF_ERROR(DamageIn(fmt::format("backup '{}' is damaged", file),
                                   sqlite::VerifyCopy(file, appended.counts)));
  if (chmod(file.c_str(), 0600) != 0) return FileError("cannot be protected", file, errno);
  BackupReport report = ReportOf(appended.counts, file);
  report.is_incremental = true;
  report.studies_added = appended.studies_added;
  report.studies_removed = appended.studies_removed;
  report.trials_written = appended.trials;
  report.events_added = appended.events;
  return report;
}

// Gives the store and its log a second name, then removes the files beside the first name. At every moment one of the
// names leads to the complete old store.
absl::Status KeepUnder(const std::string& store, const std::string& kept) {
  const std::string log = store + "-wal";
  // The database first: a log under the second name would be of no use without it.
  if (link(store.c_str(), kept.c_str()) != 0) {
    return FileError("cannot be kept under another name", store, errno);
  }
  // A store that was closed properly has no log.
  if (link(log.c_str(), (kept + "-wal").c_str()) != 0 && errno != ENOENT) {
    return FileError("cannot be kept under another name", log, errno);
  }
  VERNIER_RETURN_IF_ERROR(Sync(FolderOf(store)));
  // Only the companions: the store's own name is taken over by the rename that follows.
  for (const char* suffix : kCompanions) unlink((store + suffix).c_str());
  return absl::OkStatus();
}

// Renames files left beside a missing store: the new store would take them for its own.
absl::Status KeepCompanions(const std::string& store, const std::string& kept) {
  for (const char* suffix : kCompanions) {
    const std::string path = store + suffix;
    if (rename(path.c_str(), (kept + suffix).c_str()) != 0 && errno != ENOENT) {
      return FileError("cannot be kept under another name", path, errno);
    }
  }
  return Sync(FolderOf(store));
}

// Compacts a store in use. Its log is not counted, since it comes and goes with the owner's changes.
absl::StatusOr<CompactReport> CompactInUse(const std::string& store) {
  // Pause between steps, at least twice the length of a step, so that the owner has most of the time. A choice.
  constexpr absl::Duration kRest = absl::Milliseconds(20);
  CompactReport report = {.in_use = true, .bytes_before = SizeOf(store)};
  VERNIER_RETURN_IF_ERROR(sqlite::ShrinkStore(
      store, [&] { absl::Notification().WaitForNotificationWithTimeout(kRest); }));
  report.bytes_after = SizeOf(store);
  return report;
}

// Gives the file the owner of another one, if this user is root.
absl::Status OwnAs(const std::string& path, const struct stat& other) {
  if (geteuid() != 0 || chown(path.c_str(), other.st_uid, other.st_gid) == 0) {
    return absl::OkStatus();
  }
  return FileError("cannot be given to its owner", path, errno);
}

}  // namespace

absl::StatusOr<BackupReport> BackUpStore(const std::string& store,
                                         const std::string& name,
                                         IfExists if_exists) {
  VERNIER_RETURN_IF_ERROR(CheckStoreName(store));
  const std::string file = Target(name);
  VERNIER_RETURN_IF_ERROR(CheckNotStore(store, name));
  VERNIER_RETURN_IF_ERROR(CheckMayBeFile(file));
  if (if_exists == IfExists::kRefuse && IsThere(name)) return AlreadyExists("'{}' exists", name);
  if (if_exists == IfExists::kAppend && IsThere(file)) return Append(store, file);
  std::optional<base::FileLock> claimed;
  if (if_exists == IfExists::kReplace) {
    VERNIER_ASSIGN_OR_RETURN(claimed, ClaimBackup(file));
  }
  VERNIER_ASSIGN_OR_RETURN(NewFile copy, NewFile::Create(file));
  VERNIER_ASSIGN_OR_RETURN(const sqlite::RowCounts counts, sqlite::CopyStore(store, copy.path()));
  VERNIER_RETURN_IF_ERROR(DamageIn(fmt::format("store '{}' is damaged, no backup is made", store),
                                   sqlite::VerifyCopy(copy.path(), counts)));
  // Not before: making a copy takes long, and a backup is only given up for a verified one.
  if (claimed.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckNotEmptied(counts, file));
    for (const char* suffix : kCompanions) unlink((file + suffix).c_str());
  }
  const absl::Status placed = copy.Become(file, if_exists == IfExists::kReplace);
  // Another process made the first backup meanwhile.
  if (absl::IsAlreadyExists(placed) && if_exists == IfExists::kAppend) return Append(store, file);
  VERNIER_RETURN_IF_ERROR(placed);
  return ReportOf(counts, file);
}

absl::StatusOr<RestoreReport> RestoreStore(const std::string& file,
                                           const std::string& name,
                                           bool replace,
                                           absl::Time now) {
  const std::string store = Target(name);
  VERNIER_RETURN_IF_ERROR(CheckNotStore(store, file));
  VERNIER_RETURN_IF_ERROR(CreateStoreFolder(store));
  const bool is_there = IsThere(store);
  const bool has_content = SizeOf(store) > 0;
  if (has_content && !replace) return AlreadyExists("there is a store at '{}'", store);
  struct stat owner {};
  // The store's owner, or, without a store, its folder's, is who will use it.
  if (stat(is_there ? store.c_str() : FolderOf(store).c_str(), &owner) != 0) {
    return FileError("cannot be read", store, errno);
  }
  if (SizeOf(file) > 0 && SizeOf(file + "-wal") == 0 && !sqlite::IsStoreFile(file)) {
    return InvalidArgument("'{}' is no backup of a store, or its first page is damaged", file);
  }
  VERNIER_ASSIGN_OR_RETURN(NewFile copy, NewFile::Create(store));
  VERNIER_ASSIGN_OR_RETURN(const sqlite::RowCounts counts, sqlite::CopyStore(file, copy.path()));
  VERNIER_RETURN_IF_ERROR(DamageIn(fmt::format("backup '{}' is damaged, nothing is restored", file),
                                   sqlite::VerifyCopy(copy.path(), counts)));
  // After the long work, so that a server is kept out only for the moment of the exchange.
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<StoreLock> lock, StoreLock::Acquire(store));
  VERNIER_RETURN_IF_ERROR(OwnAs(copy.path(), owner));
  VERNIER_RETURN_IF_ERROR(OwnAs(store + ".owner", owner));
  RestoreReport report = {
      .studies = counts.studies, .trials = counts.trials, .events = counts.events, .replaced = ""};
  const bool has_left = SizeOf(store + "-wal") > 0 || SizeOf(store + "-journal") > 0;
  if (has_content || has_left) {
    const absl::TimeZone utc = absl::UTCTimeZone();
    report.replaced =
        fmt::format("{}.replaced-{}", store, absl::FormatTime("%Y%m%dT%H%M%SZ", now, utc));
    VERNIER_RETURN_IF_ERROR(has_content ? KeepUnder(store, report.replaced)
                                        : KeepCompanions(store, report.replaced));
  }
  const absl::Status placed = copy.Become(store, /*replace=*/true);
  if (!placed.ok() && !is_there) unlink(store.c_str());  // The lock made the empty file.
  VERNIER_RETURN_IF_ERROR(placed);
  return report;
}

absl::StatusOr<CompactReport> CompactStore(const std::string& store) {
  const auto lock = StoreLock::Acquire(store);
  // The owner keeps the store; it is compacted beside its work.
  if (GetReason(lock.status()) == Reason::kStoreBusy) {
    VERNIER_RETURN_IF_ERROR(CheckStoreName(store));
    return CompactInUse(store);
  }
  VERNIER_RETURN_IF_ERROR(lock.status());
  CompactReport report = {.bytes_before = SizeOf(store) + SizeOf(store + "-wal")};
  // If the free space is not known, writing will show it.
  const std::optional<launch::DiskSpace> disk = launch::ProbeDisk(FolderOf(store));
  // VACUUM needs up to twice the size of the database: a copy and a log (sqlite.org/lang_vacuum.html).
  if (disk.has_value() && disk->free_bytes < 2 * report.bytes_before) {
    return ResourceExhausted("folder '{}' has {} bytes free, compacting needs {}",
                             FolderOf(store),
                             disk->free_bytes,
                             2 * report.bytes_before);
  }
  // For SQLite's temporary files: /tmp may be smaller than the store.
  setenv("SQLITE_TMPDIR", FolderOf(store).c_str(), /*overwrite=*/0);
  VERNIER_RETURN_IF_ERROR(sqlite::CompactStore(store));
  report.bytes_after = SizeOf(store) + SizeOf(store + "-wal");
  return report;
}

}  // namespace vernier::app
