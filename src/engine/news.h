#pragma once

#include <functional>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "vernier/core/ids.h"

namespace vernier::engine {

// Which studies and trials may have changed since somebody last asked. Thread-safe.
class News {
 public:
  // `wake`: called when there is something new; may be null.
  explicit News(std::function<void()> wake) : wake_(std::move(wake)) {}

  void Add(StudyId study) {
    {
      absl::MutexLock lock(&mu_);
      if (ignored_.contains(study) || !studies_.insert(study).second) return;
    }
    Wake();
  }
  void Add(const TrialId& trial) {
    {
      absl::MutexLock lock(&mu_);
      if (!trials_.insert(trial).second) return;
    }
    Wake();
  }

  // Has the engine take a step.
  void Wake() const {
    if (wake_) wake_();
  }

  // Studies whose news are of no interest.
  void Ignore(std::set<StudyId> studies) {
    absl::MutexLock lock(&mu_);
    ignored_ = std::move(studies);
  }

  std::set<StudyId> TakeStudies() {
    absl::MutexLock lock(&mu_);
    return std::exchange(studies_, {});
  }
  std::set<TrialId> TakeTrials() {
    absl::MutexLock lock(&mu_);
    return std::exchange(trials_, {});
  }

 private:
  const std::function<void()> wake_;
  absl::Mutex mu_;
  std::set<StudyId> studies_ ABSL_GUARDED_BY(mu_);
  std::set<StudyId> ignored_ ABSL_GUARDED_BY(mu_);
  std::set<TrialId> trials_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::engine
