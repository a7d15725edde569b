#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "google/longrunning/operation.pb.h"
#include "src/service/vizier/names.h"
#include "vernier/core/ids.h"

namespace vernier::vizier {

// The last suggestions that clients got, by name: owners/OWNER/operations/suggestion/STUDY/CLIENT/NUMBER, with numbers from
// 1 for each client of a study. Not persisted: numbers start again on restart. Thread-safe.
class Operations {
 public:
  // Keeps the last `most` operations. Once more than `most_clients` have been counted, all start again.
  Operations(std::size_t most, std::size_t most_clients)
      : most_(most), most_clients_(most_clients) {}

  // Names the operation, and keeps a copy.
  void Add(StudyId study,
           const StudyName& name,
           const std::string& client,
           google::longrunning::Operation& operation);

  struct StoredOperation {
    StudyId study;
    StudyName name;
    google::longrunning::Operation operation;
  };
  std::optional<StoredOperation> Find(std::string_view name) const;

  // The study is gone, and its operations with it.
  void Forget(StudyId study);

 private:
  using Counts = absl::flat_hash_map<std::string, std::int64_t>;  // By client.

  const std::size_t most_;
  const std::size_t most_clients_;
  mutable absl::Mutex mu_;
  std::deque<StoredOperation> last_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<StudyId, Counts> counts_ ABSL_GUARDED_BY(mu_);
  std::size_t clients_ ABSL_GUARDED_BY(mu_) = 0;  // In counts_.
};

}  // namespace vernier::vizier
