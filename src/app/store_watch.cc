#include "src/app/store_watch.h"

#include <sys/statvfs.h>

#include <utility>

#include "absl/time/time.h"
#include "fmt/format.h"

namespace vernier::app {

std::string StoreTrouble(const std::string& store, const StoreLock& lock) {
  if (!lock.IsInPlace()) {
    return fmt::format("store '{}': the file was moved, removed or replaced; nothing is stored",
                       store);
  }
  struct statvfs system;
  // Missing or replaced was told above; any other failure says nothing of the store.
  const bool is_known = statvfs(store.c_str(), &system) == 0;
  if (is_known && (system.f_flag & ST_RDONLY) != 0) {
    return fmt::format("store '{}': its file system is read-only; nothing is stored", store);
  }
  return "";
}

StoreWatch::StoreWatch(std::string store,
                       const StoreLock& lock,
                       std::function<void(const std::string& trouble)> changed)
    : store_(std::move(store)), lock_(lock), changed_(std::move(changed)), loop_([this] {
        // Only changes are told.
        std::string trouble = StoreTrouble(store_, lock_);
        if (trouble != trouble_) {
          trouble_ = std::move(trouble);
          changed_(trouble_);
        }
        return absl::Seconds(1);
      }) {}

}  // namespace vernier::app
