#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Files of the operating system, with its reasons in the errors.
namespace vernier::base {

// NotFound: there is none.  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// An exclusive lock on a file, held by this process until it is destroyed or the process dies, however it dies.
class FileLock {
 public:
  // Creates the file, for its owner only, if there is none. Nothing: somebody else holds it.
  // NotFound: no such folder.  ResourceExhausted: the disk is full.  Unavailable: the file cannot be opened or locked.
  static absl::StatusOr<std::optional<FileLock>> TryAcquire(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Replaces the content of the locked file. A reader may see it half done.
  // ResourceExhausted: the disk is full.  Unavailable: it cannot be written.
  absl::Status Write(std::string_view content) const;

 private:
  FileLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

// Whether some process holds a FileLock on it. False if there is no such file. Looking takes a shared lock for an instant,
// in which TryAcquire finds the file held.
bool IsLocked(const std::string& path);

}  // namespace vernier::base
