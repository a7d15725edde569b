#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "src/core/outcome_constraint.h"
#include "vernier/core/ids.h"
#include "vernier/study_reader.h"

namespace vernier::service {

// The outcome constraints of studies. They never change, and are kept: asking for a study waits for whatever of it is on
// its way to the disk, which would cost each completed trial another sync.
//
// Thread-safe. Nothing is owned.
class OutcomeBook {
 public:
  using Constraints = std::shared_ptr<const std::vector<OutcomeConstraint>>;

  explicit OutcomeBook(const StudyReader& studies) : studies_(studies) {}

  // None of a study that is deleted.
  Constraints Get(StudyId study);

 private:
  const StudyReader& studies_;
  absl::Mutex mu_;
  absl::flat_hash_map<StudyId, Constraints> known_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::service
