#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Files of the operating system, with its reasons in the errors.
namespace vernier::base {

// NotFound: there is none.  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);
// Writes beside the file, syncs, renames, syncs the folder: readers, and whoever comes after a power loss, see the old
// content or the new. Concurrent writers do not mix; one of them wins. The file is readable by the owner only.
// NotFound: no such folder.  ResourceExhausted: the disk is full.  Unavailable: it cannot be written. Nothing changes then.
absl::Status WriteFileAtomically(const std::string& path, std::string_view content);
// With its parents; a new folder is open to the owner only. OK if it is there.  Unavailable: a file is in the way, or it is
// not allowed.
absl::Status MakeDirectories(const std::string& path);

// An exclusive lock on a file, held by this process until it is destroyed or the process dies, however it dies.
class FileLock {
 public:
  // Creates the file if there is none. Nothing: somebody else holds it.  Unavailable: the file cannot be opened.
  static absl::StatusOr<std::optional<FileLock>> TryAcquire(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Replaces the content of the locked file.
  absl::Status Write(std::string_view content) const;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

// Whether some process holds a FileLock on it. False if there is no such file. Looking takes a shared lock for an instant,
// in which TryAcquire finds the file held.
bool IsLocked(const std::string& path);

}  // namespace vernier::base
