#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/storage.h"

namespace vernier::sqlite {

// A store that is looked at and not owned: beside the process that has it, or while nobody does. Nothing is written to its
// tables. Not thread-safe.
class Inspection {
 public:
  enum class Schema {
    kCurrent,  // What this program writes.
    kKnown,    // That, or an older one: for what looks at pages and not at rows.
  };
  // DataLoss: not a Vernier store, or damaged at its root.  FailedPrecondition: of another schema.  NotFound: there is no
  // file.  Unavailable: it cannot be opened.
  static absl::StatusOr<std::unique_ptr<Inspection>> Open(const std::string& path,
                                                          Schema schema = Schema::kCurrent);

  struct Extent {
    std::int64_t page_bytes = 0;
    std::int64_t pages = 0;
    std::int64_t free_pages = 0;  // Of these, those that hold nothing.
    std::int64_t bytes() const { return page_bytes * pages; }
    std::int64_t free_bytes() const { return page_bytes * free_pages; }
  };
  absl::StatusOr<Extent> Measure();

  enum class Depth {
    kQuick,  // The structure of every page.
    kFull,   // And whether indexes agree with their tables.
  };
  // What is wrong with the pages and the references between tables, a sentence for each, at most 100 of each kind; empty: nothing.
  // `go_on` is asked now and then.  Cancelled: it said no.
  absl::StatusOr<std::vector<std::string>> CheckPages(Depth depth,
                                                      const std::function<bool()>& go_on);

  // The store as of now, until the result is destroyed: one at a time, and it must not outlive this. Its writing calls are
  // FailedPrecondition. As long as it lives, the write-ahead log of the store grows with what others write.
  absl::StatusOr<std::unique_ptr<Storage>> Snapshot();

  Connection& connection() { return *connection_; }

 private:
  explicit Inspection(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  std::unique_ptr<Connection> connection_;
};

}  // namespace vernier::sqlite
