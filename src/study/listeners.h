#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "vernier/core/ids.h"

namespace vernier::study {

// Functions to call when a study has changed. Thread-safe. They are called under this class's own
// lock, so a listener must not add or remove listeners.
class Listeners {
 public:
  using Changed = std::function<void(StudyId)>;

  std::uint64_t Add(Changed changed) {
    absl::MutexLock lock(&mu_);
    listeners_.emplace(++last_, std::move(changed));
    return last_;
  }
  // Waits for a call that is under way.
  void Remove(std::uint64_t listener) {
    absl::MutexLock lock(&mu_);
    listeners_.erase(listener);
  }
  void Tell(StudyId study) const {
    absl::ReaderMutexLock lock(&mu_);
    for (const auto& [number, changed] : listeners_) changed(study);
  }

 private:
  mutable absl::Mutex mu_;
  std::map<std::uint64_t, Changed> listeners_ ABSL_GUARDED_BY(mu_);
  std::uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vernier::study
