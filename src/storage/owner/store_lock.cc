// Two locks, because one is not enough: "<file>.owner" is found by the canonical path, so symbolic links lead to it,
// but hard links do not. The lock on the file itself is the same for all names. The owner file is locked first, since
// its text can name the process that holds it.

#include "src/storage/owner/store_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "nlohmann/json.hpp"
#include "src/core/status.h"
#include "src/storage/sqlite/backup.h"
#include "vernier/core/error.h"

namespace vernier::storage {
namespace {

// Most bytes of an owner file. A choice: it holds two paths and an address.
constexpr std::int64_t kMostOwner = 65536;

namespace fs = std::filesystem;

// The owner file of the canonical path: symbolic links lead to the same store.
std::string OwnerPath(const std::string& store) {
  std::error_code error;
  const fs::path file = fs::weakly_canonical(store, error);
  return (error ? store : file.string()) + ".owner";
}

// The folder that a path names, "." for one without.
fs::path FolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// The error by which the file or the folder refuses to be written; 0: it does not, or not for lack of rights.
int WhyNotWritten(const fs::path& path) {
  const bool is_refused = ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0;
  return is_refused && (errno == EACCES || errno == EROFS) ? errno : 0;
}

// Why the owner file cannot be opened, in terms of the store and its folder, which users know.
absl::Status ExplainNoOwnerFile(const std::string& store, const absl::Status& status) {
  VERNIER_RETURN_IF_ERROR(CheckStoreFolder(store));
  const std::string owner = OwnerPath(store);
  const fs::path folder = FolderOf(owner);
  const bool is_readable = ::faccessat(AT_FDCWD, store.c_str(), R_OK, AT_EACCESS) == 0;
  const std::string hint = is_readable ? "; to read it, copy it to a folder of your own" : "";
  if (const int denied = WhyNotWritten(folder); denied != 0) {
    return Unavailable("store '{}': its folder '{}' cannot be written: {}{}",
                       store,
                       folder.string(),
                       std::strerror(denied),
                       hint);
  }
  if (const int denied = WhyNotWritten(owner); denied != 0) {
    return Unavailable(
        "store '{}': belongs to another user: {}{}", store, std::strerror(denied), hint);
  }
  return absl::Status(status.code(),
                      fmt::format("store '{}': {}", store, std::string(status.message())));
}

absl::Status CheckIsFile(const std::string& store) {
  std::error_code error;
  const fs::file_status status = fs::status(store, error);
  // A link to a file is fine; a folder or a device is not.
  if (!fs::exists(status) || fs::is_regular_file(status)) return absl::OkStatus();
  return FieldError("store", fmt::format("must be a regular file, '{}' is none", store));
}

// Refuses files that vernier did not make. A file with an owner file or a log was a store, and may be damaged: reading
// it will show that.
absl::Status CheckIsStore(const std::string& store) {
  std::error_code error;
  if (fs::exists(OwnerPath(store), error)) return absl::OkStatus();
  // Not for a store in use, perhaps by this process: opening and closing it here would drop SQLite's locks.
  if (base::IsLocked(store)) return absl::OkStatus();
  const bool has_content = fs::exists(store, error) && fs::file_size(store, error) > 0;
  if (!has_content || sqlite::IsStoreFile(store)) return absl::OkStatus();
  const fs::path log = store + "-wal";
  if (fs::exists(log, error)) return absl::OkStatus();
  return FieldError("store",
                    fmt::format("must be a file that vernier made, '{}' is another one", store));
}

// Reads the owner's text; fields that are malformed keep their defaults.
StoreOwner ReadOwner(const std::string& path) {
  StoreOwner owner;
  const absl::StatusOr<std::string> text = base::ReadFile(path, kMostOwner);
  if (!text.ok()) return owner;
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return owner;
  // Each field by itself: an owner of another version may lack some.
  if (const auto pid = json.find("pid"); pid != json.end() && pid->is_number_integer()) {
    owner.process_id = pid->get<std::int64_t>();
  }
  if (const auto address = json.find("address"); address != json.end() && address->is_string()) {
    owner.address = address->get<std::string>();
  }
  if (const auto file = json.find("token_file"); file != json.end() && file->is_string()) {
    owner.token_file = file->get<std::string>();
  }
  if (const auto all = json.find("runs_every_study"); all != json.end() && all->is_boolean()) {
    owner.runs_every_study = all->get<bool>();
  }
  return owner;
}

absl::Status Busy(const std::string& store, const StoreOwner& owner) {
  const std::string reach =
      owner.address.empty() ? std::string() : fmt::format(", reachable at {}", owner.address);
  // Its text may have been read half-written.
  const std::string who = owner.process_id == 0 ? std::string("another process")
                                                : fmt::format("process {}", owner.process_id);
  return WithReason(Unavailable("store '{}' is in use by {}{}", store, who, reach),
                    Reason::kStoreBusy);
}

absl::Status BusyUnderAnotherName(const std::string& store) {
  return WithReason(
      Unavailable("store '{}' is in use by another process, under another name", store),
      Reason::kStoreBusy);
}

// The lock on the owner file; nothing if one process has kept it for `patience`, or has an address. Those who wait look again
// and again, and chance decides who is next: in a queue, one suspended process would hold up all behind it.
absl::StatusOr<std::optional<base::FileLock>> AwaitTurn(const std::string& path,
                                                        absl::Duration patience) {
  // Time between two looks. A choice: short beside the turn of a process, and cheap.
  constexpr absl::Duration kPause = absl::Milliseconds(2);
  // Looks between two readings of the owner file.
  constexpr std::int64_t kReadEvery = 25;
  base::LockWaiter waiter(path);
  const std::int64_t most = patience / kPause;
  std::int64_t looks = 0;  // Since another process got the store.
  fs::file_time_type since;
  for (std::int64_t i = 0;; ++i, ++looks) {
    auto lock = base::FileLock::TryAcquire(path);
    if (!lock.ok() || lock->has_value() || looks >= most) return lock;
    if (i % kReadEvery == 0) {
      if (!ReadOwner(path).address.empty()) return lock;
      std::error_code error;
      const fs::file_time_type written = fs::last_write_time(path, error);
      if (std::exchange(since, written) != written && i > 0) looks = 0;
    }
    waiter.Tell();
    poll(nullptr, 0, static_cast<int>(absl::ToInt64Milliseconds(kPause)));
  }
}

}  // namespace

absl::Status CheckStoreFolder(const std::string& store) {
  const fs::path folder = FolderOf(store);
  std::error_code error;
  // The dot asks for the right to look into the folder, which its name alone does not need.
  const fs::file_status status = fs::status(folder / ".", error);
  if (fs::exists(status)) return absl::OkStatus();
  if (!fs::status_known(status)) {
    return Unavailable("store '{}': its folder '{}' cannot be looked into: {}",
                       store,
                       folder.string(),
                       error.message());
  }
  return NotFound("store: there is no folder '{}' for '{}'; create it, or name another store",
                  folder.string(),
                  store);
}

absl::Status CheckStoreName(const std::string& store) {
  // The owner file of this name is free, and the store is locked all the same.
  const bool is_elsewhere = !base::IsLocked(OwnerPath(store)) && base::IsLocked(store);
  return is_elsewhere ? BusyUnderAnotherName(store) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<StoreLock>> StoreLock::Acquire(const std::string& store,
                                                              absl::Duration patience) {
  // Checked before anything is created beside it.
  VERNIER_RETURN_IF_ERROR(CheckIsFile(store));
  VERNIER_RETURN_IF_ERROR(CheckIsStore(store));
  const std::string path = OwnerPath(store);
  absl::StatusOr<std::optional<base::FileLock>> file =
      patience > absl::ZeroDuration() ? AwaitTurn(path, patience) : base::FileLock::Acquire(path);
  if (!file.ok()) return ExplainNoOwnerFile(store, file.status());
  if (!file->has_value()) return Busy(store, ReadOwner(path));
  VERNIER_ASSIGN_OR_RETURN(std::optional<base::FileLock> inner, base::FileLock::Acquire(store));
  if (!inner.has_value()) return BusyUnderAnotherName(store);
  std::unique_ptr<StoreLock> lock(new StoreLock(**std::move(file), *std::move(inner)));
  // At once, so that a process that finds the lock taken can read who has it.
  VERNIER_RETURN_IF_ERROR(lock->Publish({}));
  return lock;
}

absl::Status StoreLock::Publish(const StoreOwner& owner) {
  const nlohmann::json text = {{"pid", getpid()},
                               {"address", owner.address},
                               {"token_file", owner.token_file},
                               {"runs_every_study", owner.runs_every_study}};
  return owner_.Write(text.dump() + "\n");
}

std::optional<StoreOwner> FindStoreOwner(const std::string& store) {
  const std::string path = OwnerPath(store);
  if (!base::IsLocked(path)) return std::nullopt;
  return ReadOwner(path);
}

}  // namespace vernier::storage
