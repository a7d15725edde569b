#include "python/src/store.h"

#include "vernier/core/error.h"

namespace vernier::python {

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path) {
  std::unique_ptr<Store> store(new Store());
  if (path.empty()) {
    store->storage_ = NewMemoryStorage();
  } else {
    VERNIER_ASSIGN_OR_RETURN(store->lock_, storage::StoreLock::Acquire(path));
    VERNIER_ASSIGN_OR_RETURN(store->storage_, OpenSqliteStorage({.path = path}));
  }
  store->clock_ = NewRealClock();
  store->studies_ = Studies::Create(*store->storage_, *store->clock_);
  return store;
}

void Store::Abandon() {
  // Leaked on purpose: closing them would write to the parent's files, or wait for threads that the child has not got.
  [[maybe_unused]] auto* const studies = studies_.release();
  [[maybe_unused]] auto* const storage = storage_.release();
  lock_.reset();
}

}  // namespace vernier::python
