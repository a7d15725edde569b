#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/storage/owner/store_lock.h"
#include "vernier/core/clock.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::python {

// An open store and its studies. Thread-safe. Destroying it closes the store.
class Store {
 public:
  // Opens the SQLite file at `path`, and creates it if it is missing; its folder must exist. Empty: a store in memory.
  // Unavailable (kStoreBusy): another process has it open.  Other errors: as StoreLock::Acquire and OpenSqliteStorage.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path);

  Studies& studies() { return *studies_; }

  // In the child of a fork: gives the locks up without closing the store, which is the parent's. Nothing may be called
  // afterwards. The parent keeps its locks.
  void Abandon();

 private:
  Store() = default;

  // Released last, since it is what keeps other processes away from the file.
  std::unique_ptr<storage::StoreLock> lock_;  // Null: in memory.
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Studies> studies_;
};

}  // namespace vernier::python
