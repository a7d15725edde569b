#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Files of the operating system, with its reasons in the errors.
namespace vernier::base {

// The whole content of a regular file. Waits for nothing.
// NotFound: there is none.  InvalidArgument: it has more than `most_bytes`, or is something else.  Unavailable: it cannot be
// read.
absl::StatusOr<std::string> ReadFile(const std::string& path, std::int64_t most_bytes);

// As ReadFile, and takes what a shell puts in the place of a file: a pipe or a terminal, which is waited for; a pipe that has
// a name, for ten seconds at most.
absl::StatusOr<std::string> ReadInput(const std::string& path, std::int64_t most_bytes);

// An exclusive lock on a file, held by this process until it is destroyed or the process dies, however it dies.
class FileLock {
 public:
  // Creates the file, for its owner only, if there is none. Nothing: somebody else holds it.
  // NotFound: no such folder.  ResourceExhausted: the disk is full.  Unavailable: the file cannot be opened or locked.
  static absl::StatusOr<std::optional<FileLock>> TryAcquire(const std::string& path);
  // As TryAcquire, and gives a holder a second to let go: a process that was killed may leave the lock to a child that it
  // was about to turn into another program, and IsLocked holds it for an instant.
  static absl::StatusOr<std::optional<FileLock>> Acquire(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Whether its path still leads to the locked file.
  bool IsInPlace() const;
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
