#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Reads and locks files; errors carry the operating system's reason.
namespace vernier::base {

// Reads a regular file. Never blocks.
// NotFound: there is none.  InvalidArgument: it has more than `most_bytes`, or is not a regular file.  Unavailable: it
// cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path, std::int64_t most_bytes);

// As ReadFile, but also reads what a shell may put in the place of a file: a pipe or a terminal, for which it waits;
// for a named pipe, ten seconds at most.
absl::StatusOr<std::string> ReadInput(const std::string& path, std::int64_t most_bytes);

// An exclusive lock on a file (flock(2)), held until it is destroyed or the process dies in any way.
class FileLock {
 public:
  // Takes the lock. Creates the file, for its owner only, if it is missing. Nothing: another process holds the lock.
  // NotFound: no such folder.  ResourceExhausted: the disk is full.  Unavailable: the file cannot be opened or locked.
  static absl::StatusOr<std::optional<FileLock>> TryAcquire(const std::string& path);
  // As TryAcquire, but waits up to a second for another holder: the child of a killed process keeps the lock between
  // fork and exec, and IsLocked takes it for an instant.
  static absl::StatusOr<std::optional<FileLock>> Acquire(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Whether the path still leads to the locked file.
  bool IsInPlace() const;
  // Whether another process has a LockWaiter on the file.
  bool IsAwaited() const;
  // Replaces the content of the locked file. A reader may see it half-written.
  // ResourceExhausted: the disk is full.  Unavailable: it cannot be written.
  absl::Status Write(std::string_view content) const;

 private:
  FileLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

// Tells the process that holds the FileLock of a file that this one waits for it, until it is destroyed or the process dies
// in any way. A child of a fork does not wait.
class LockWaiter {
 public:
  // The file must exist; without it, or without access to it, nobody is told.
  explicit LockWaiter(std::string path) : path_(std::move(path)) {}
  LockWaiter(const LockWaiter&) = delete;
  LockWaiter& operator=(const LockWaiter&) = delete;
  ~LockWaiter();

  // To be called again after any other use of the file in this process: closing it ends what was told.
  void Tell();

 private:
  const std::string path_;
  int descriptor_ = -1;
};

// Whether a process holds a FileLock on the file. False if there is no such file. Takes a shared lock for an instant,
// during which TryAcquire finds the file locked.
bool IsLocked(const std::string& path);

}  // namespace vernier::base
