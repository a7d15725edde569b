#pragma once

#include <functional>
#include <string>

#include "src/app/store_lock.h"
#include "src/base/background_thread.h"

namespace vernier::app {

// Why the store at the path cannot be written, as far as can be told without writing: its file was moved, removed or
// replaced, or its file system is read-only. Empty: nothing is known against it.
std::string StoreTrouble(const std::string& store, const StoreLock& lock);

// Looks at once and then every second, from a thread of its own, and tells when that changes; "" once it is over.
class StoreWatch {
 public:
  // `lock` must outlive this.
  StoreWatch(std::string store,
             const StoreLock& lock,
             std::function<void(const std::string& trouble)> changed);

 private:
  const std::string store_;
  const StoreLock& lock_;
  const std::function<void(const std::string& trouble)> changed_;
  std::string trouble_;  // The loop's.
  base::BackgroundLoop loop_;
};

}  // namespace vernier::app
