#pragma once

#include <functional>
#include <string>

#include "src/app/server.h"
#include "src/base/background_thread.h"

namespace vernier::app {

// Why the store cannot be written, as far as that is visible without writing: its file was moved, removed or replaced,
// or its file system is read-only. Empty: no problem is known.
std::string StoreTrouble(const std::string& store, const StoreLock& lock);

// Checks at once and then every second, on its own thread, and calls `changed` when the answer changes; with "" when it
// is over.
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
  std::string trouble_;  // Used by the loop only.
  base::BackgroundLoop loop_;
};

}  // namespace vernier::app
