#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Copies of a store that somebody else may own and write meanwhile. None of these waits for a writer or is waited for.
namespace vernier::sqlite {

struct RowCounts {
  std::int64_t studies = 0;
  std::int64_t trials = 0;
  std::int64_t events = 0;
  friend bool operator==(const RowCounts&, const RowCounts&) = default;
};

// Whether the file says of itself that it is a store, in its first bytes.
bool IsStoreFile(const std::string& path);

// Errors: as Inspection::Open.
absl::StatusOr<RowCounts> CountRows(const std::string& path);

// Copies the store as of now, page by page, to the empty or missing file `to`: one file, without a write-ahead log. It is
// not synced. Returns what it has.
// Errors: as Inspection::Open; an older schema is copied as it is.  ResourceExhausted, Unavailable: `to` cannot be written.
absl::StatusOr<RowCounts> CopyStore(const std::string& from, const std::string& to);

// What an incremental backup changed.
struct Appended {
  RowCounts counts;  // What the backup has now.
  std::int64_t studies_added = 0;
  std::int64_t studies_removed = 0;
  std::int64_t trials = 0;  // Written, new ones included.
  std::int64_t events = 0;
};
// Brings an earlier copy of the same store up to now, in one transaction: removes deleted studies, adds new ones, and of
// those that have new events appends these and writes the rows that differ.
// Every page of the store is looked at first.
// FailedPrecondition: it is no earlier copy of this store, or of another schema.  DataLoss: the store is damaged. In both
// cases nothing is changed.
absl::StatusOr<Appended> AppendToCopy(const std::string& from, const std::string& copy);

// Whether every page is sound and it has just these rows.
// DataLoss: it is damaged, or has others; the message does not name it.
absl::Status VerifyCopy(const std::string& path, const RowCounts& expected);

// Gives the free pages of a store back to the file system. Nobody else may have it open. Needs room for the store twice
// over while it works. From then on ShrinkStore can do the same to it, too.
// DataLoss: it is damaged; nothing is changed.  ResourceExhausted: no room.
absl::Status CompactStore(const std::string& path);

// The same while others use it: a mebibyte at a time, each step a transaction of its own; `rest` is called between them, so
// that others get their turn. What is freed meanwhile may stay. The pages are not put in order.
// FailedPrecondition: the file cannot give single pages back, as an earlier version made it.  DataLoss: it is damaged.
// Unavailable: somebody else wrote for too long. In all cases what was given back before stays so.
absl::Status ShrinkStore(const std::string& path, const std::function<void()>& rest);

}  // namespace vernier::sqlite
