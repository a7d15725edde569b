#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/study/store_check.h"

// Examines a store's file, which another process may own and write meanwhile. Changes nothing.
namespace vernier::app {

struct StoreReport {
  std::int64_t bytes = 0;
  std::int64_t free_bytes = 0;        // In unused pages.
  std::vector<std::string> problems;  // In its pages and in references between its tables.
  std::vector<study::StudyCheck> studies;
  bool is_sound() const;
};

// Examines the whole store.
// DataLoss: not a Vernier store, or damaged at its root.  FailedPrecondition: another schema.  NotFound: there is no
// file.
// Unavailable: it cannot be opened.
absl::StatusOr<StoreReport> ExamineStore(const std::string& store);

// Examines the structure of its pages only. `go_on` is asked now and then.  Cancelled: it returned false.  Other
// errors: as ExamineStore.
absl::StatusOr<StoreReport> LookIntoStore(const std::string& store,
                                          const std::function<bool()>& go_on);

}  // namespace vernier::app
