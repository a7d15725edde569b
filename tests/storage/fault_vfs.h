#pragma once

#include <cstdint>
#include <string>

namespace vernier::testing {

// An SQLite VFS over the system's that can fail writes and syncs, and forget what was never synced.
//
// Registered for as long as it lives, under a name of its own; at most one connection to each file may write at a time.
// Switched off (the default) it passes calls on, but for syncs: a test process loses no power. Thread-safe while it is off.
class FaultVfs {
 public:
  enum class Fault {
    kIoError,   // SQLITE_IOERR_WRITE or SQLITE_IOERR_FSYNC.
    kDiskFull,  // SQLITE_FULL for writes, SQLITE_IOERR_FSYNC for syncs.
  };

  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  // The n-th write, truncation or sync from now on fails, and, if `for_good`, so does every one after it.
  void FailAt(std::int64_t n, Fault fault, bool for_good);
  // No more faults.
  void Off();
  // How many writes, truncations and syncs there were since FailAt or the start.
  std::int64_t operations() const;
  // Whether a fault was met since FailAt.
  bool failed() const;

  // From now on remembers what each sync made durable.
  void RecordSyncs();
  // Writes every file as a loss of power would have left it: as of its last sync. `from` is the database's path, `to`
  // that of the copy.
  void CopyAsAfterPowerLoss(const std::string& from, const std::string& to) const;

  struct State;

 private:
  std::string name_;
  State* state_;  // Owned; a C structure that SQLite points to.
};

}  // namespace vernier::testing
