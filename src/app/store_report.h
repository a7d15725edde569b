#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/study/store_check.h"

// Looks into a store's file, which another process may own and write meanwhile. Nothing is changed.
namespace vernier::app {

struct StoreReport {
  std::int64_t bytes = 0;
  std::int64_t free_bytes = 0;        // Of these, in pages that hold nothing.
  std::vector<std::string> problems;  // Of its pages and the references between its tables.
  std::vector<study::StudyCheck> studies;
  bool is_sound() const;
};

// Reads all of it.
// DataLoss: not a Vernier store, or damaged at its root.  FailedPrecondition: of another schema.  NotFound: there is no
// file.  Unavailable: it cannot be opened.
absl::StatusOr<StoreReport> ExamineStore(const std::string& store);

// The structure of its pages alone. `go_on` is asked now and then.  Cancelled: it said no.  Other errors: as ExamineStore.
absl::StatusOr<StoreReport> LookIntoStore(const std::string& store,
                                          const std::function<bool()>& go_on);

}  // namespace vernier::app
